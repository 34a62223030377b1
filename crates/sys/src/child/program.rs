//! A program laid out for the kernel before there is a child.

use rustix::fs::{Access, access};
use std::ffi::{CString, OsStr, OsString, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::{io, ptr};

/// The environment that a program gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Environment {
    /// None.
    Empty,
    /// That of this process, as it is when the [`Program`] is made.
    Inherited,
}

/// A program to start, laid out for the kernel before there is a child.
#[derive(Debug)]
pub struct Program {
    pub(super) path: CString,
    pub(super) arguments: ArgumentVector,
    pub(super) environment: ArgumentVector,
    /// Where it begins; `None`: where this process is.
    directory: Option<CString>,
}

impl Program {
    /// The program at `path`, called with these arguments after its name.
    ///
    /// # Errors
    /// `NotFound` or `PermissionDenied` if there is no such file or it may not
    /// be executed; `InvalidInput` for a zero byte in any of the words.
    pub fn new(path: &Path, arguments: &[&str], environment: Environment) -> io::Result<Program> {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Program::lay_out(name, path, arguments, environment)
    }

    /// The program at `path` with `argv[0]`, arguments and this process's
    /// environment. Some programs find their own files by a slash in
    /// `argv[0]`.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn called(
        name: &OsStr,
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
    ) -> io::Result<Program> {
        Program::lay_out(name, path, arguments, Environment::Inherited)
    }

    /// The program at `path` with these arguments, with these variables alone, begun in a directory.
    ///
    /// # Errors
    /// As [`Program::new`].
    pub fn placed(
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
        variables: &[(OsString, OsString)],
        directory: &Path,
    ) -> io::Result<Program> {
        let program = Program::lay_out(path.as_os_str(), path, arguments, Environment::Empty)?;
        let variables = variables
            .iter()
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        Ok(Program {
            environment: ArgumentVector::new(variables)?,
            directory: Some(CString::new(directory.as_os_str().as_bytes())?),
            ..program
        })
    }

    fn lay_out(
        name: &OsStr,
        path: &Path,
        arguments: &[impl AsRef<OsStr>],
        environment: Environment,
    ) -> io::Result<Program> {
        access(path, Access::EXEC_OK)?;
        let variables = match environment {
            Environment::Empty => Vec::new(),
            Environment::Inherited => std::env::vars_os()
                .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat())
                .collect(),
        };
        Ok(Program {
            path: CString::new(path.as_os_str().as_bytes())?,
            arguments: ArgumentVector::new(
                [name]
                    .into_iter()
                    .chain(arguments.iter().map(AsRef::as_ref))
                    .map(|word| word.as_bytes().to_vec()),
            )?,
            environment: ArgumentVector::new(variables)?,
            directory: None,
        })
    }

    /// Becomes the program. Returns only if that failed, and errno says why.
    pub(crate) fn execute(&self) {
        // SAFETY: the text ends in a zero byte.
        if self.directory.as_ref().is_some_and(|to| unsafe { libc::chdir(to.as_ptr()) } != 0) {
            return;
        }
        // SAFETY: the path ends in a zero byte, the lists in a null pointer;
        // all were made before, so this may be the child of a `fork`.
        unsafe {
            libc::execve(self.path.as_ptr(), self.arguments.as_ptr(), self.environment.as_ptr());
        }
    }
}

/// Words as C has them: pointers to them, the last one null.
#[derive(Debug)]
pub(super) struct ArgumentVector {
    /// What the pointers point to: on the heap, so it stays when this moves.
    _words: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl ArgumentVector {
    fn new(words: impl IntoIterator<Item = Vec<u8>>) -> io::Result<ArgumentVector> {
        let words: Vec<CString> = words.into_iter().map(CString::new).collect::<Result<_, _>>()?;
        let pointers = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        Ok(ArgumentVector { _words: words, pointers })
    }

    pub(super) fn as_ptr(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }
}
