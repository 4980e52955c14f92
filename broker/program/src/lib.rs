//! The `topobroker` program, with a module for each command. It is no library interface:
//! `topobroker` has the functions that the commands call.
#![deny(unsafe_code)]

mod audit;
pub mod audit_notes;
mod bind;
pub mod calc;
mod check;
#[allow(unsafe_code, reason = "looking before the runtime starts is what this module is for")]
mod closed_stdout;
mod cluster;
mod color;
mod command_words;
mod completions;
pub mod console;
mod devices;
mod difference;
pub mod distrib;
mod doctor;
mod draw;
mod examples;
mod export;
mod filter_options;
mod flag_names;
mod help;
mod help_groups;
#[allow(unsafe_code, reason = "hwloc takes the names of plugins from the environment alone")]
mod hwloc_plugins;
pub mod info;
mod input;
mod job;
mod json;
mod kind_of_file;
mod links;
mod load;
pub mod ls;
mod manual;
mod mapping;
mod networks;
mod output;
mod own_published;
mod part;
mod ports;
mod preload;
mod program;
mod progress;
mod ps;
mod publish;
mod run;
mod scope;
mod serve;
mod set_format;
mod signals;
mod status;
mod subject;
mod switches;
mod temporary_folder;
mod text_file;
mod unpacked;
mod unpublish;
mod usage;

pub use program::main;
