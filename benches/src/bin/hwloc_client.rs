//! A client that uses hwloc. Its commands are `nothing`, `adopt FILE`, `half FILE`, `xml FILE`,
//! `synthetic TEXT` and `discover`.
#![forbid(unsafe_code)]

use anyhow::bail;
use std::time::Instant;
use topobroker::hwloc::Input;
use topobroker_benches::clients::{begin_heap_anywhere, ready};
use topobroker_rival as rival;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    begin_heap_anywhere();
    let start = Instant::now();
    let pus = match words.as_slice() {
        ["nothing"] => 0,
        ["adopt", file] => rival::count_pus(&rival::adopt(file)?),
        ["half", file] => rival::adopt_half(file)?,
        ["xml", file] => rival::load_and_keep(&Input::Xml(file.into()))?,
        ["synthetic", text] => rival::load_and_keep(&Input::Synthetic((*text).to_owned()))?,
        ["discover"] => rival::load_and_keep(&Input::ThisMachine)?,
        _ => bail!(
            "usage: hwloc_client nothing | adopt FILE | half FILE | xml FILE | synthetic TEXT | discover"
        ),
    };
    ready(start.elapsed(), pus)
}
