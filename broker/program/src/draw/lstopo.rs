//! Options of lstopo that are about pictures alone.

use crate::output;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// What lstopo's options say of a picture. They change nothing of a text.
#[derive(Debug, Clone, Args)]
pub(crate) struct LstopoOptions {
    /// Of a picture: draw no legend
    #[arg(long, hide = true)]
    pub(super) no_legend: bool,
    /// Of a picture: draw only the lines of the legend that are given
    #[arg(long, hide = true)]
    pub(super) no_default_legend: bool,
    /// Of a picture: another line of the legend
    #[arg(long, hide = true, value_name = "LINE")]
    pub(super) append_legend: Vec<String>,
    /// Of a picture: draw everything, whatever repeats
    #[arg(long, hide = true)]
    pub(super) no_factorize: bool,
    /// Of a picture: of so many alike neighbours, draw the first and the last
    #[arg(long, hide = true, value_name = "COUNT", num_args = 0..=1, require_equals = true, default_missing_value = "4")]
    pub(super) factorize: Option<usize>,
    #[command(flatten)]
    left: LeftOut,
}

impl LstopoOptions {
    /// Names the options that change nothing.
    pub(super) fn say_what_is_left_out(&self) {
        if !self.left.0.is_empty() {
            output::say(&format!(
                "pictures have one layout, one font and colours by class: {} changes nothing; \
                 .svg has classes for style sheets",
                self.left.0.join(", ")
            ));
        }
    }
}

/// Options for layouts, fonts and colours that are given. They are taken, and change nothing.
#[derive(Debug, Clone, Default)]
struct LeftOut(Vec<&'static str>);

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    /// Behind `=`, or none.
    Perhaps,
    One,
}

const LEFT_OUT: [(&str, Value); 24] = [
    ("attrs", Value::Perhaps),
    ("binding-color", Value::One),
    ("children-order", Value::One),
    ("disallowed-color", Value::One),
    ("fontsize", Value::One),
    ("grey", Value::None),
    ("gridsize", Value::One),
    ("horiz", Value::Perhaps),
    ("index", Value::Perhaps),
    ("linespacing", Value::One),
    ("logical-index-prefix", Value::One),
    ("no-attrs", Value::Perhaps),
    ("no-cpukinds", Value::None),
    ("no-index", Value::Perhaps),
    ("no-text", Value::Perhaps),
    ("os-index-prefix", Value::One),
    ("palette", Value::One),
    ("rect", Value::Perhaps),
    ("text", Value::Perhaps),
    ("thickness", Value::One),
    ("thissystem", Value::None),
    ("top-color", Value::One),
    ("vert", Value::Perhaps),
    ("windows-processor-groups", Value::None),
];

impl Args for LeftOut {
    fn augment_args(command: Command) -> Command {
        LEFT_OUT.into_iter().fold(command, |command, (name, value)| {
            let option = Arg::new(name).long(name).hide(true).action(ArgAction::Append);
            command.arg(match value {
                Value::None => option.num_args(0).default_missing_value(""),
                Value::Perhaps => {
                    option.num_args(0..=1).require_equals(true).default_missing_value("")
                }
                Value::One => option,
            })
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LeftOut {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_given = |name: &&str| matches.contains_id(name);
        Ok(Self(LEFT_OUT.into_iter().map(|(name, _)| name).filter(is_given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
