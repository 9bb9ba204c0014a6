//! `lanecast promote`.

use lanecast::promote::{PromotionError, Refusal, Standard, plan};
use serde::Serialize;

use crate::{
    args::{Promote, Which},
    error::{Failure, Result},
    output,
    report::json,
    text,
};

/// The answer of a standard for the pair.
#[derive(Serialize)]
struct Row {
    standard: &'static str,
    /// The dtype to compute in; `None` if the pair is refused.
    result: Option<&'static str>,
    weak: bool,
    /// The casts of the operands, from left to right.
    casts: Vec<String>,
    /// Why the pair is refused.
    refused: Option<String>,
}

impl Row {
    fn new(standard: Standard, args: &Promote) -> std::result::Result<Self, PromotionError> {
        let plan = plan(standard, args.left, args.right)?;
        let casts = [plan.left, plan.right].into_iter().flatten();
        Ok(Self {
            standard: standard.id(),
            result: Some(plan.result.name()),
            weak: plan.weak,
            casts: casts.map(|cast| format!("{} to {}", cast.source(), cast.target())).collect(),
            refused: None,
        })
    }

    /// The row of a standard. If all standards are listed, a refusal is a row too, not a failure.
    fn or_refusal(standard: Standard, args: &Promote) -> Result<Self> {
        match Self::new(standard, args) {
            Err(error) if !matches!(error.reason, Refusal::NoKernel { .. }) => Ok(Self {
                standard: standard.id(),
                result: None,
                weak: false,
                casts: Vec::new(),
                refused: Some(error.to_string()),
            }),
            row => row.map_err(failure),
        }
    }

    fn cells(&self) -> Vec<String> {
        let result = self.result.unwrap_or("-").to_owned() + if self.weak { "*" } else { "" };
        let remark = match &self.refused {
            Some(why) => why.clone(),
            None if self.casts.is_empty() => "no casts".to_owned(),
            None => format!("cast {}", self.casts.join(", ")),
        };
        vec![self.standard.to_owned(), result, remark]
    }
}

fn failure(error: PromotionError) -> Failure {
    Failure::unsupported(error.to_string())
}

/// Runs the subcommand.
pub fn run(args: &Promote) -> Result<()> {
    let rows = match args.standard {
        Which::One(standard) => vec![Row::new(standard, args).map_err(failure)?],
        Which::All => Standard::ALL
            .iter()
            .map(|standard| Row::or_refusal(*standard, args))
            .collect::<Result<Vec<_>>>()?,
    };
    if args.json {
        return output::print(&json(&rows)?);
    }
    output::print(&text::table(&rows.iter().map(Row::cells).collect::<Vec<_>>()))
}
