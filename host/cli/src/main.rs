//! The `flowhost` program.

// A run makes and frees a great many small things on several threads; the system's allocator took a fifth of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    flowhost::main()
}
