//! Documents that `topobroker` prints with `--json`, and the schema that says what they are.

use crate::{checkout, skip};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

/// Reads documents, one on each line with the name of its definition, and prints what is wrong with
/// them.
const CHECK: &str = "import json, sys, urllib.parse
from jsonschema import Draft202012Validator as Validator
schema = json.load(open(sys.argv[1]))
Validator.check_schema(schema)
for line in sys.stdin:
    name, document = json.loads(line)
    # A name is written in a reference as in a URI.
    wanted = {**schema, '$id': '', '$ref': '#/$defs/' + urllib.parse.quote(name)}
    for error in Validator(wanted).iter_errors(document):
        print(name, error.json_path, error.message)";

/// Documents that are what their definitions say, once `assert_valid` has checked them all.
#[derive(Debug, Default)]
pub struct Documents {
    lines: Vec<String>,
    tried: BTreeSet<String>,
}

impl Documents {
    /// Adds what a command printed, under the name of its definition without `topobroker`.
    pub fn add(&mut self, name: &str, text: &str) {
        let document: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
        let name = format!("topobroker {name}");
        self.lines.push(serde_json::to_string(&(&name, document)).unwrap());
        self.tried.insert(name);
    }

    /// Checks all documents with Python's jsonschema, and returns the definitions without a
    /// document.
    pub fn assert_valid(&self) -> BTreeSet<String> {
        let file = checkout().join("docs/json/topobroker.schema.json");
        let schema: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let defined = schema["$defs"].as_object().unwrap().keys();
        let commands = defined.filter(|name| name.starts_with("topobroker "));
        let commands: BTreeSet<String> = commands.cloned().collect();
        let undefined: Vec<_> = self.tried.difference(&commands).collect();
        assert!(undefined.is_empty(), "no definition of {undefined:?}");
        let mut has = Command::new("/usr/bin/python3");
        has.args(["-c", "import jsonschema"]).stderr(Stdio::null());
        if !has.status().is_ok_and(|status| status.success()) {
            skip(format_args!("there is no jsonschema for python3; scripts/test installs it"));
            return commands.difference(&self.tried).cloned().collect();
        }
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-c", CHECK]).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut python = python.spawn().expect("python3, with jsonschema");
        python.stdin.take().unwrap().write_all(self.lines.join("\n").as_bytes()).unwrap();
        let output = python.wait_with_output().unwrap();
        let wrong = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && wrong.is_empty(), "{}: {wrong}", output.status);
        commands.difference(&self.tried).cloned().collect()
    }
}
