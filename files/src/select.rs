//! Which tensors are cast.

use lanecast::{DType, Kind};

use crate::{
    error::{Error, Result},
    glob::Globs,
};

/// A choice by dtype and by name. The default chooses all floats.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    from: Option<DType>,
    include: Option<Globs>,
    exclude: Option<Globs>,
}

impl Selection {
    /// Tensors of the dtype `from`, or floats if that is `None`, whose names match a glob of `include`, if there is any, and none of
    /// `exclude`. In globs `*` and `?` match `.` and `/`, too.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if a glob cannot be read. Its place is `include` or `exclude`.
    pub fn new(from: Option<DType>, include: &[String], exclude: &[String]) -> Result<Self> {
        Ok(Self { from, include: globs("include", include)?, exclude: globs("exclude", exclude)? })
    }

    /// The dtype that tensors are to have.
    pub fn from(&self) -> Option<DType> {
        self.from
    }

    /// Whether the choice depends on names.
    pub fn is_by_name(&self) -> bool {
        self.include.is_some() || self.exclude.is_some()
    }

    /// Whether an include names this tensor and no exclude does.
    pub fn names_explicitly(&self, name: &str) -> bool {
        self.include.is_some() && self.allows(name)
    }

    /// Whether the patterns allow a tensor of this name.
    pub fn allows(&self, name: &str) -> bool {
        self.include.as_ref().is_none_or(|set| set.is_match(name))
            && !self.exclude.as_ref().is_some_and(|set| set.is_match(name))
    }

    /// Whether a tensor of this name and dtype is cast.
    pub fn chooses(&self, name: &str, dtype: DType) -> bool {
        self.chooses_dtype(dtype) && self.allows(name)
    }

    /// Whether a tensor of this dtype is cast if the patterns allow it.
    pub fn chooses_dtype(&self, dtype: DType) -> bool {
        match self.from {
            Some(from) => dtype == from,
            None => dtype.kind() == Kind::Float,
        }
    }

    /// Whether an exclude names this tensor.
    pub fn excludes(&self, name: &str) -> bool {
        self.exclude.as_ref().is_some_and(|set| set.is_match(name))
    }

    /// Whether an include names this tensor.
    pub fn includes(&self, name: &str) -> bool {
        self.include.as_ref().is_some_and(|set| set.is_match(name))
    }

    /// Whether there is an include.
    pub fn has_include(&self) -> bool {
        self.include.is_some()
    }
}

fn globs(option: &str, patterns: &[String]) -> Result<Option<Globs>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    Globs::new(patterns).map(Some).map_err(|wrong| Error::request(format!("bad pattern, {wrong}")).at(option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_by_default_and_globs_cross_dots() {
        let all = Selection::new(None, &[], &[]).unwrap();
        assert!(all.chooses("a", DType::BFloat16) && !all.chooses("a", DType::Int8));
        assert!(!all.chooses("a", DType::Complex64));
        let some = Selection::new(Some(DType::Int8), &["model.*.weight".into()], &["*norm*".into()]).unwrap();
        assert!(some.chooses("model.layers.0/x.weight", DType::Int8));
        assert!(!some.chooses("model.layers.0.norm.weight", DType::Int8));
        assert!(!some.chooses("model.layers.0.weight", DType::Float32));
        assert!(Selection::new(None, &["[".into()], &[]).is_err());
    }
}
