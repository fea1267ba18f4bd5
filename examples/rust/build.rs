//! Makes a static library of the problems in transposes.txt, and links it.
//! TTC: the command, `ttc` by default; TTCFLAGS: more options, such as `--cpu=haswell`.

use std::env;
use std::process::Command;

fn main() {
    let folder = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let ttc = env::var("TTC").unwrap_or_else(|_| "ttc".into());
    let flags = env::var("TTCFLAGS").unwrap_or_else(|_| "--maxImplementations=1".into()); // leave it out, and candidates are timed
    let status = Command::new(&ttc)
        .args(["--manifest=transposes.txt", "--emit=static", "--quiet", &format!("--output-dir={folder}")])
        .args(flags.split_whitespace())
        .status()
        .unwrap_or_else(|error| panic!("{ttc} cannot be run: {error}"));
    assert!(status.success(), "{ttc} has failed");
    println!("cargo:rustc-link-search=native={folder}/lib");
    println!("cargo:rustc-link-lib=static=transposes");
    println!("cargo:rerun-if-changed=transposes.txt");
    println!("cargo:rerun-if-env-changed=TTC");
    println!("cargo:rerun-if-env-changed=TTCFLAGS");
}
