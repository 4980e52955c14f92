//! The `topobroker` program, command by command. Not a library: see the other modules for what it does.

mod audit;
pub mod calc;
#[allow(unsafe_code, reason = "looking before the runtime starts is what this module is for")]
mod closed;
pub mod distrib;
mod export;
mod filter_options;
mod flag_names;
pub mod info;
mod input;
mod job;
pub mod ls;
mod manual;
mod output;
mod part;
mod program;
mod publish;
mod run;
mod scope;
mod serve;
mod signals;
mod status;
mod subject;
mod unpublish;

pub use program::main;
