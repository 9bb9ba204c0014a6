//! The answer to a command line that requests help or is wrong: clap's message, its suggestions and the usage of the
//! subcommand, after `lanecast:`.

use std::{error::Error as _, ffi::OsString};

use clap::{
    builder::StyledStr,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{error::Result, exit::Exit, meant::UnknownDType, output, terminal, text};

/// Prints the message of `error` about `args` and returns the exit code. A command line that only requests help is no error.
pub fn answer(mut error: clap::Error, args: &[OsString]) -> Result<u8> {
    terminal::settle(terminal::color_of(args.iter().cloned()), false);
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            output::print_styled(&error.render().ansi().to_string()).map(|()| 0)
        }
        // Nothing was done, so a script with an empty variable must not take this for success.
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = terminal::error(&error.render().ansi().to_string());
            Ok(Exit::Usage as u8)
        }
        _ => {
            let unknown = error.source().and_then(|source| source.downcast_ref::<UnknownDType>());
            let exit = if unknown.is_some() { Exit::Unsupported } else { Exit::Usage };
            if let Some(tips) = unknown.map(UnknownDType::tips) {
                let tips = tips.into_iter().map(StyledStr::from).collect();
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
            }
            disarm(&mut error);
            // If standard error is closed, only the exit code can report the error.
            let _ = terminal::error(&error.render().ansi().to_string().replacen("error:", "lanecast:", 1));
            Ok(exit as u8)
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
            // One of clap's tips quotes it too.
            error.remove(ContextKind::Suggested);
        }
    }
}
