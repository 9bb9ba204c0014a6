//! Which tensors are cast.

use lanecast::{DType, Kind};

use crate::{
    error::{Error, Remedy, Result},
    glob::Globs,
    near::near,
    report::Entry,
    text::one_line,
};

/// A choice by dtype and by name. The default chooses all floats.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    from: Option<DType>,
    include: Option<Globs>,
    exclude: Option<Globs>,
}

impl Selection {
    /// Selects tensors of the dtype `from`, or all floats if that is `None`, whose names match any glob of `include` (all names if it
    /// is empty) and no glob of `exclude`. In globs `*` and `?` match `.` and `/`, too.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if a glob is malformed. Its place is `include` or `exclude`.
    pub fn new(from: Option<DType>, include: &[String], exclude: &[String]) -> Result<Self> {
        Ok(Self { from, include: globs("include", include)?, exclude: globs("exclude", exclude)? })
    }

    /// The source dtype that is selected; `None` selects floats.
    pub fn source(&self) -> Option<DType> {
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

    /// Fails if a pattern matches none of `names`: the names of tensors, and of groups such as structured arrays.
    ///
    /// # Errors
    ///
    /// [`Error::Request`], which names the pattern and similar names. Its place is `include` or `exclude`.
    pub fn check_patterns<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        for (option, globs) in [("include", &self.include), ("exclude", &self.exclude)] {
            let idle = globs.as_ref().and_then(|globs| globs.unmatched(names.clone()).next());
            let Some(pattern) = idle else { continue };
            let what = format!("no tensor has a name that matches \"{}\"", one_line(pattern));
            let near: Vec<String> = near(pattern, names).into_iter().map(one_line).collect();
            return Err(Error::request(what).at(option).advise(Remedy::Rename { near }));
        }
        Ok(())
    }

    /// Why a tensor of this name and dtype is not selected; `None` if it is. The dtype of elements that are not numbers is `None`.
    pub fn leaves_out(&self, name: &str, dtype: Option<DType>) -> Option<&'static str> {
        if self.excludes(name) {
            Some("excluded by name")
        } else if !self.allows(name) {
            Some("not included by name")
        } else if dtype.is_some_and(|dtype| self.chooses_dtype(dtype)) {
            None
        } else if self.from.is_some() {
            Some("of another dtype")
        } else {
            Some("not floating")
        }
    }

    /// Fills in why each copied entry is copied, where the format has not done so.
    pub(crate) fn explain(&self, entries: &mut [Entry]) {
        for entry in entries.iter_mut().filter(|entry| entry.to.is_none() && entry.kept.is_none()) {
            entry.kept = self.leaves_out(&entry.name, entry.from.parse::<DType>().ok());
        }
    }

    /// Fails if tensors were selected by a dtype or an include, and the selection is why none of `entries` is cast. The entries must
    /// be explained.
    pub(crate) fn check_entries(&self, entries: &[Entry]) -> Result<()> {
        let own = |entry: &Entry| {
            entry.kept.is_some()
                && entry.kept == self.leaves_out(&entry.name, entry.from.parse::<DType>().ok())
        };
        if self.from.is_none() && self.include.is_none() || !entries.iter().all(own) {
            return Ok(());
        }
        let what = format!("no tensor is chosen, {}", crate::report::reasons(entries));
        Err(Error::request(what).advise(Remedy::ChooseOthers))
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
