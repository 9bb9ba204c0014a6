//! No byte of a cast depends on how it is divided, and losses of ranges add up.

use lanecast::DType::{self, BFloat16, Float4E2M1FN, Float8E4M3FN, Float16, Float32, Int8};

use super::tensors;
use crate::{
    faults::Faults,
    source::Source,
    write::{
        Notes,
        divisions::{Random, check, write},
    },
};

#[test]
fn ranges_of_casts_add_up() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = |values: Vec<f32>| values.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    let data = [
        ("all.small", bytes((0..1000).map(|i| if i < 300 { 1e-30 } else { 0.0 }).collect())),
        ("few.small", bytes((0..1000).map(|i| if i < 300 { 1e-30 } else { 1.0 }).collect())),
        ("large", bytes((0..1000).map(|i| if i % 400 == 7 { 1e9 } else { 2.0 }).collect())),
        ("none", bytes((0..1000).map(|i| (i % 5) as f32).collect())),
        ("empty", Vec::new()),
    ];
    let shapes = data.each_ref().map(|(_, data)| [data.len() as u64 / 4]);
    let made: Vec<lanecast_files::NewTensor<'_>> = data
        .iter()
        .zip(&shapes)
        .map(|((name, data), shape)| lanecast_files::NewTensor { name, dtype: Float32, shape, data })
        .collect();
    write(folder.path(), &made, "{}");
    let source = Source::open(folder.path(), &mut Faults::fatal()).expect("a checkpoint");
    let mut random = Random(5);
    let mut losses = |to: DType| {
        let dtypes = vec![to; source.tensors.len()];
        let new = tensors(&source, &dtypes);
        check(&new, &mut random);
        let mut notes = Notes::default();
        for tensor in &new {
            notes.extend((tensor.produce)(0..tensor.bytes(), &mut |_| Ok(())).expect("bytes"));
        }
        notes.whole().losses
    };
    let all = [Float32, BFloat16, Float16, Float8E4M3FN, Float4E2M1FN, Int8].map(&mut losses);
    assert!(all[0].is_empty() && all[1].is_empty(), "{all:?}");
    let of_half: Vec<(&str, u64, u64, bool)> =
        all[2].iter().map(|l| (&*l.tensor, l.out_of_range, l.became_zero, l.all_zero)).collect();
    let want = [("all.small", 0, 300, true), ("few.small", 0, 300, false), ("large", 3, 0, false)];
    assert_eq!(of_half, want);
}
