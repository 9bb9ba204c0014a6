//! [`QuantizeOptions::like`]: the schemes that another file of ComfyUI has, layer by layer.

use std::path::Path;

use lanecast::DType::{self, Float4E2M1FN, Float8E4M3FN, Float8E8M0FNU};
use lanecast_files::Result;

use super::{QuantLayout, QuantScheme, QuantizeOptions, choose::Pattern};
use crate::{
    checkpoint::{Checkpoint, Content},
    coding::{Codes, Coding, ScaleData},
    error::{At, request, unsupported},
};

/// What the names of tensors begin with in files that hold a model and others, and in no other file.
const PREFIX: &str = "model.diffusion_model.";

impl QuantizeOptions {
    /// The same options, by which the weights of `src` get the schemes that weights of the same names have in `like`, a file of ComfyUI.
    ///
    /// Weights that are plain there stay, and those that `like` lacks follow [`scheme`](Self::scheme). [`map`](Self::map) and
    /// [`ignore`](Self::ignore) come first. Names may lack `model.diffusion_model.` on one side.
    ///
    /// # Errors
    ///
    /// The errors of [`Checkpoint::open`]; [`Error::Request`](crate::Error::Request) if the layout is not [`QuantLayout::Comfy`], or if `like` has no
    /// quantized layers; [`Error::Unsupported`](crate::Error::Unsupported) if it has a layer in a format that no scheme has.
    pub fn like(mut self, src: &Path, like: &Path) -> Result<Self> {
        if self.layout != QuantLayout::Comfy {
            return Err(request(format!(
                "only files of ComfyUI have schemes to copy, and the layout is {}",
                self.layout
            )));
        }
        let (src, like) = (Checkpoint::open(src)?, Checkpoint::open(like)?);
        if like.layout() != "ComfyUI" {
            let what =
                format!("the file has no quantized layers of ComfyUI (its layout is {})", like.layout());
            return Err(request(what).at_path(&like.source.files[0].path));
        }
        let own: Vec<Pattern> = (self.map.iter().map(|(glob, _)| glob))
            .chain(&self.ignore)
            .map(|glob| Pattern::new(glob))
            .collect::<Result<_>>()?;
        for tensor in src.tensors().iter().filter(|tensor| tensor.name.ends_with(".weight")) {
            let name = &tensor.name;
            if tensor.shape.len() != 2 || own.iter().any(|pattern| pattern.matches(name)) {
                continue;
            }
            match find(&like, name) {
                Some(Content::Coded(coding)) => self.map.push((literal(name), scheme(&like, coding)?)),
                Some(_) => self.ignore.push(literal(name)),
                None => {}
            }
        }
        Ok(self)
    }
}

/// The tensor of a name that may lack the prefix on one side.
fn find<'c>(checkpoint: &'c Checkpoint, name: &str) -> Option<&'c Content> {
    let names = [
        Some(name.to_owned()),
        name.strip_prefix(PREFIX).map(str::to_owned),
        Some(format!("{PREFIX}{name}")),
    ];
    names.into_iter().flatten().find_map(|name| checkpoint.content(&name).ok()).map(|(_, content)| content)
}

/// The scheme of a layer.
fn scheme(checkpoint: &Checkpoint, coding: &Coding) -> Result<QuantScheme> {
    let scale: Option<DType> = coding.scales.as_ref().and_then(|scales| match scales.data {
        ScaleData::Tensor(_, dtype) => Some(dtype),
        ScaleData::Nested(_) => None,
    });
    match (&coding.values, scale) {
        (Codes::Float(Float4E2M1FN), Some(Float8E4M3FN)) => Ok(QuantScheme::Nvfp4),
        (Codes::Float(Float8E4M3FN), Some(Float8E8M0FNU)) => Ok(QuantScheme::Mxfp8),
        (Codes::Float(Float8E4M3FN), Some(_)) => Ok(QuantScheme::Fp8Tensor),
        (values, _) => {
            let what = format!(
                "the layer has {} of {} bits, which no scheme of comfy has",
                values.name(),
                coding.packing.bits
            );
            Err(unsupported(what).tensor(&checkpoint.source, &checkpoint.source.tensors[coding.codes]))
        }
    }
}

/// A pattern that matches this name only.
fn literal(name: &str) -> String {
    let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\');
    name.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}
