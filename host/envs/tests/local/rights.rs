//! What the user has no right to. Root has all rights, so this is asked by a process of another user where root tests.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::Command,
};

use crate::fixture::{PROGRAM, is_root, place};

/// Any user but root.
const SOMEBODY: u32 = 12345;

fn may_pass(path: &Path) {
    for above in path.ancestors() {
        let metadata = fs::metadata(above).unwrap();
        // Of the tests' own directories alone.
        if above.starts_with(std::env::temp_dir()) && above != std::env::temp_dir() {
            fs::set_permissions(above, fs::Permissions::from_mode(metadata.permissions().mode() | 0o755)).unwrap();
        }
    }
}

#[test]
fn what_is_not_permitted_is_denied_and_nothing_is_skipped_silently() {
    let place = place();
    place.put("unreadable", "x");
    place.put("readonly", "x");
    place.put("closed/f", "x");
    place.put("open/f", "x");
    // Reached by whoever it is run as.
    let program = place.elsewhere.join("program");
    fs::copy(PROGRAM, &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    may_pass(&place.root);
    may_pass(&place.elsewhere);
    if is_root() {
        for path in ["", "unreadable", "readonly", "closed", "open"] {
            std::os::unix::fs::chown(place.root.join(path), Some(SOMEBODY), Some(SOMEBODY)).unwrap();
        }
    }
    for (path, mode) in [("unreadable", 0o000), ("readonly", 0o444), ("closed", 0o000), ("open", 0o555)] {
        fs::set_permissions(place.root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new(&program);
    command.arg("rights").arg(&place.root).current_dir("/");
    if is_root() {
        command.uid(SOMEBODY).gid(SOMEBODY);
    }
    let output = command.output().unwrap();
    for path in ["closed", "open"] {
        fs::set_permissions(place.root.join(path), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let said = String::from_utf8(output.stdout).unwrap();
    let expected = "\
        read unreadable: unreadable: permission denied\n\
        write readonly: readonly: permission denied\n\
        append readonly: readonly: permission denied\n\
        write open/new: open/new: permission denied\n\
        remove open/f: open/f: permission denied\n\
        make-dir open/d: open/d: permission denied\n\
        read closed/f: closed/f: permission denied\n\
        find: closed: permission denied\n\
        subdir closed: denied\n";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read(place.root.join("readonly")).unwrap(), b"x");
}
