//! The `flowhost` program.

fn main() -> std::process::ExitCode {
    flowhost::main()
}
