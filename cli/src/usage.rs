//! What the program answers if the command line asks for help or is wrong: clap's words, its suggestions and the usage
//! of the subcommand, behind `lanecast:`.

use std::{error::Error as _, process::ExitCode};

use clap::{
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    error::{Exit, Result},
    meant::UnknownDType,
    terminal, text,
};

/// Prints what `error` says. A command line that only asks for help is no error.
pub fn answer(mut error: clap::Error) -> Result<ExitCode> {
    terminal::settle(terminal::color_of(std::env::args_os().skip(1)), false);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            terminal::print(&error.render().ansi().to_string()).map(|()| ExitCode::SUCCESS)
        }
        // Nothing was done: a script whose variable is empty must not take it for success.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = terminal::error(&error.render().ansi().to_string());
            Ok(Exit::Usage.into())
        }
        _ => {
            let unknown = error.source().and_then(|source| source.downcast_ref::<UnknownDType>());
            let exit = if unknown.is_some() { Exit::Unsupported } else { Exit::Usage };
            if let Some(tips) = unknown.map(UnknownDType::tips) {
                let tips = tips.into_iter().map(StyledStr::from).collect();
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
            }
            disarm(&mut error);
            // A closed standard error leaves only the exit code to answer with.
            let _ = terminal::error(&error.render().ansi().to_string().replacen("error:", "lanecast:", 1));
            Ok(exit.into())
        }
    }
}

/// Escapes control characters of the arguments that the message quotes, and shortens long ones.
fn disarm(error: &mut clap::Error) {
    let quoted: Vec<(ContextKind, String)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(value) => Some((kind, value.clone())),
            _ => None,
        })
        .collect();
    for (kind, value) in quoted {
        let safe = text::one_line(&value);
        if safe != value {
            error.insert(kind, ContextValue::String(safe));
            // A tip of clap quotes it too.
            error.remove(ContextKind::Suggested);
        }
    }
}
