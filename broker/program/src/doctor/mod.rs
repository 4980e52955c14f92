//! `topobroker doctor`: what works on this node, and what to do about the rest.

mod examination;
mod price;

use crate::{color, json, output};
use clap::Args;
use examination::{Answer, SEGMENT, State, examine};
use std::process::ExitCode;

/// Say whether sharing works on this node, and what to do if it does not
///
/// Looks at publication, daemon, hwloc, guard, PMIx, Slurm, container, limits, and what processes
/// pay. Exits with 1 if something is bad
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Doctor {
    pub(crate) fn run(&self) -> anyhow::Result<ExitCode> {
        let answers = examine();
        let text = match self.json {
            true => json::text(&answers.iter().map(described).collect::<Vec<_>>())?,
            false => {
                color::states(summary(&answers) + &answers.iter().map(lines).collect::<String>())
            }
        };
        output::print(&text)?;
        let is_bad = answers.iter().any(|answer| answer.state == State::Bad);
        Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// What there is to do, in a line.
fn summary(answers: &[Answer]) -> String {
    let bad = answers.iter().filter(|answer| answer.state == State::Bad).count();
    let shared =
        match answers.iter().any(|answer| answer.name == SEGMENT && answer.state == State::Good) {
            true => "the topology of this node is shared",
            false => "no topology is shared with this process",
        };
    match bad {
        0 => format!("nothing is wrong; {shared}\n"),
        1 => format!("1 thing to do; {shared}\n"),
        count => format!("{count} things to do; {shared}\n"),
    }
}

fn described(answer: &Answer) -> json::Answer<'_> {
    json::Answer {
        name: answer.name,
        state: answer.state.name(),
        text: &answer.text,
        advice: answer.advice.as_deref(),
    }
}

fn lines(answer: &Answer) -> String {
    let advice = answer.advice.as_ref().map(|advice| format!("{:>18}{advice}\n", ""));
    let (state, name) = (answer.state.name(), answer.name);
    format!("{state:<5} {name:<12}{}\n{}", answer.text, advice.unwrap_or_default())
}
