//! `latlas noise show`, `measure` and `ab`. `tune` and `restore` change the whole
//! machine, so they are tested by a program of their own, `noise_tune`.

mod ab;
mod ab_command;
mod measure;
mod show;
