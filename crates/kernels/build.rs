//! Compiles the virtual call, which has to be real C++. Without a compiler for
//! it everything else is still built, and `VIRTUAL_CALL_MISSING` says why the
//! row is not there.

use std::path::Path;

const SOURCES: [&str; 2] = ["src/cpp/object.cpp", "src/cpp/virtual_call.cpp"];

fn main() {
    println!("cargo:rustc-check-cfg=cfg(latlas_cpp)");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/cpp");
    match compile() {
        Ok(()) => println!("cargo:rustc-cfg=latlas_cpp"),
        Err(reason) => println!("cargo:rustc-env=LATLAS_CPP_MISSING={reason}"),
    }
}

/// Compiles, or says in one line why not.
fn compile() -> Result<(), String> {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .files(SOURCES)
        .include(Path::new("src/cpp"))
        // Alike in every profile, and nothing of the C++ runtime.
        .opt_level(2)
        .debug(false)
        .flag_if_supported("-falign-loops=64")
        .flag_if_supported("-fno-exceptions")
        .flag_if_supported("-fno-rtti")
        .cpp_link_stdlib(None)
        // What fails here is reported by the row, not by the build.
        .cargo_warnings(false);
    build.try_compile("latlas_virtual_call").map_err(|error| {
        let line = error.to_string();
        line.lines().next().unwrap_or_default().trim().to_owned()
    })
}
