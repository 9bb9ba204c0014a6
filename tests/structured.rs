//! Structured dtypes: NumPy's descriptions and casts from tables (`tests/data/README.md`), random structs against casts of single
//! elements, and what is refused.
#![cfg(feature = "structured")]

#[path = "structured/random.rs"]
mod random;

use crate::support::data::rows;
use lanecast::structured::{Field, FieldType, Match, StructError, StructPlan, StructType, Trouble};
use lanecast::{ByteOrder, Bytes, BytesMut, CastError, CastOptions, CastPlan, DType, Encoding, Level, Side};
use proptest::prelude::*;

fn read(descr: &str) -> StructType {
    StructType::from_descr(descr).unwrap_or_else(|error| panic!("{descr}: {error}"))
}

fn plan(from: &str, to: &str, matching: Match) -> Result<StructPlan, StructError> {
    StructPlan::new(&read(from), &read(to), matching, &CastOptions::NUMPY)
}

// ---- Descriptions ---------------------------------------------------------------------------------------------------

/// The fields of a struct as `import_structured.py` writes them.
fn layout(of: &StructType) -> String {
    let fields = of.fields().iter().map(|field| {
        let ascii = |name: &str| {
            let mut out = String::new();
            for char in name.chars() {
                match char {
                    '/' => {}
                    '\\' => out.push_str("\\\\"),
                    '\n' => out.push_str("\\n"),
                    '\t' => out.push_str("\\t"),
                    // Only where both quotes stand.
                    '\'' if name.contains('"') => out.push_str("\\'"),
                    ' '..='~' => out.push(char),
                    _ if (char as u32) < 0x100 => out.push_str(&format!("\\x{:02x}", char as u32)),
                    _ if (char as u32) < 0x1_0000 => out.push_str(&format!("\\u{:04x}", char as u32)),
                    _ => out.push_str(&format!("\\U{:08x}", char as u32)),
                }
            }
            out
        };
        let title = field.title().map_or(String::new(), |title| format!("/{}", ascii(title)));
        let shape = field.shape().iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let kind = match field.kind() {
            FieldType::Struct(of) => layout(of),
            other => other.descr().unwrap().trim_matches('\'').to_owned(),
        };
        format!("{} {}{title} {shape} {kind}", field.offset(), ascii(field.name()))
    });
    format!("{{{}}} {}", fields.collect::<Vec<_>>().join(", "), of.item_size())
}

/// The same fields as C lays them out, those of structs within, too.
fn aligned(of: &StructType) -> StructType {
    let fields = of.fields().iter().map(|field| {
        let kind = match field.kind() {
            FieldType::Struct(of) => aligned(of).into(),
            other => other.clone(),
        };
        let new = Field::new(field.name(), kind).with_shape(field.shape());
        field.title().map(|title| new.clone().with_title(title)).unwrap_or(new)
    });
    StructType::aligned(fields.collect::<Vec<_>>()).expect("the fields are sound")
}

#[test]
fn descriptions_are_numpys() {
    let rows = rows(data!("structured_descr.tsv"));
    assert_eq!(rows.len(), 1 + 127);
    let mut gaps = 0;
    for row in &rows[1..] {
        let (fields, how, descr, expected) = (row[0], row[1], row[2], row[3]);
        let packed = read(fields);
        assert_eq!(StructType::packed(packed.fields()).as_ref(), Ok(&packed), "{fields}");
        let made = match how {
            "packed" => packed,
            "aligned" => aligned(&packed),
            _ => {
                let numbers: Vec<usize> = how[3..].split(' ').map(|n| n.parse().unwrap()).collect();
                let (size, offsets) = numbers.split_last().unwrap();
                let fields = offsets.iter().copied().zip(packed.fields().iter().cloned());
                StructType::with_offsets(fields, *size).unwrap()
            }
        };
        assert_eq!(made.descr().as_deref(), Ok(descr), "{fields} {how}");
        gaps += usize::from(descr.contains("('', '|V"));
        let back = read(descr);
        assert_eq!(layout(&back), expected);
        assert_eq!((layout(&made), back.alignment()), (expected.to_owned(), 1));
        assert_eq!(StructType::read_descr(&format!(" {descr}, x")), Ok((back, ", x")));
    }
    assert!(gaps > 30, "{gaps} descriptions have gaps");
}

#[test]
fn other_spellings_are_read() {
    let same = |text: &str, descr: &str| assert_eq!(read(text).descr().as_deref(), Ok(descr), "{text}");
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    same("[(\"a\",'float32',(2,3,),),]", &format!("[('a', '{native}f4', (2, 3))]"));
    same(" [ ( 'a' , '>i2' , 3 ) ] ", "[('a', '>i2', (3,))]");
    same("[('a', '>i2', (3L,))]", "[('a', '>i2', (3,))]");
    same("[('a', ('<f4', (2,)), (3,))]", "[('a', '<f4', (3, 2))]");
    same(
        "[('', '<f4'), ('a', '?'), ('', '|V2'), ('', '|u1')]",
        "[('f0', '<f4'), ('a', '|b1'), ('', '|V2'), ('f3', '|u1')]",
    );
    same(
        "[('a', 'bfloat16'), ('b', 'float8_e4m3fn'), ('c', '<f1')]",
        &format!("[('a', '{native}V2'), ('b', '<V1'), ('c', '<f1')]"),
    );
    same(
        r"[('\x41\u00e9\U0001f600\\\'\n', '|i1')]",
        r#"[("AÃ©😀\\'\n", '|i1')]"#.replace("Ã©", "é").as_str(),
    );
    same("[('a', '|V3', (4,)), ('', '|V3', (4,))]", "[('a', '|V3', (4,)), ('', '|V12')]");
    assert_eq!(FieldType::from_descr("'>f4'"), FieldType::from_descr(" >f4"));
    let big = Encoding::new(DType::Float32).with_order(ByteOrder::Big);
    assert_eq!(FieldType::from_descr(">f4"), Ok(big.into()));
    assert_eq!(FieldType::from_descr("[('a', '|u1')]"), Ok(read("[('a', '|u1')]").into()));
    assert_eq!(FieldType::from_descr("U3").unwrap().size(), 12);
}

#[test]
fn bad_descriptions_say_where() {
    let huge = usize::MAX;
    let cases = [
        ("", 0, "ends early"),
        ("[", 1, "ends early"),
        ("'<f4'", 0, "begins with ["),
        ("[('a', '<f4'", 12, "ends early"),
        ("[('a', '<f4')] x", 15, "\"x\" follows"),
        ("[('a', '<f4'), ('a', '<f4')]", 0, "\"a\" belongs to another"),
        ("[('a', '<f4'), (('a', 'b'), '<f4')]", 0, "\"a\" belongs to another"),
        ("[('a', '<f3')]", 7, "\"<f3\" is unknown"),
        ("[('a', '|O')]", 7, "objects"),
        ("[('a', '<M8[ns]')]", 7, "dates"),
        ("[('a', '<f16')]", 7, "long double"),
        ("[('a', '<f4', (-1,))]", 15, "expected a length"),
        ("[('a', '<f4', (2.5,))]", 16, "expected ,"),
        (&format!("[('a', '<f4', ({huge}0,))]"), 15, "too large"),
        (&format!("[('a', '<f4', ({huge},))]"), 1, "too large"),
        (&format!("[('a', '|V1', ({huge}, 0))]"), 0, "larger than any buffer"),
        (&format!("[('a', '|V0', ({huge}, {huge}))]"), 0, "larger than any buffer"),
        (&format!("[('a', '|V{huge}'), ('b', '|V9')]"), 14 + huge.to_string().len(), "too large"),
        (&format!("[('a', '<U{huge}')]"), 0, "larger than any buffer"),
        (r"[('a\q', '<f4')]", 4, "unknown escape \\q"),
        (r"[('\ud800', '<f4')]", 3, "no character"),
        ("[('a', '<f4]", 7, "does not end"),
        ("[('a'; '<f4')]", 5, "expected ,"),
        ("[(1, '<f4')]", 2, "expected a string"),
        ("[('a', 1)]", 7, "expected a string or a list"),
    ];
    for (text, at, what) in cases {
        match StructType::from_descr(text) {
            Err(error @ StructError::Descr { at: found, .. }) => {
                assert!(error.to_string().contains(what), "{text}: {error}");
                assert_eq!(found, at, "{text}: {error}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn nesting_ends() {
    // Node ends with a fault after texts of a million, when all tests have passed.
    const DEEP: usize = if cfg!(target_family = "wasm") { 20_000 } else { 1_000_000 };
    let nested = |depth: usize| format!("{}'<f4'{}", "[('a', ".repeat(depth), ")]".repeat(depth));
    assert_eq!(read(&nested(32)).item_size(), 4);
    let deep = StructType::from_descr(&nested(33)).unwrap_err();
    assert!(deep.to_string().contains("more than 32 structs"), "{deep}");
    // A parser that recursed would not come back from these.
    for text in [nested(DEEP), "[(".repeat(DEEP), "[('a', (".repeat(DEEP), "(".repeat(DEEP)] {
        assert!(matches!(StructType::from_descr(&text), Err(StructError::Descr { .. })));
    }
    let many: String = (0..50_000).map(|i| format!("('field{i}', '<f4'), ")).collect();
    assert_eq!(read(&format!("[{many}]")).item_size(), 200_000);
    let mut of = read("[('a', '<f4')]");
    for _ in 1..32 {
        of = StructType::packed([Field::new("a", of)]).expect("not too deep");
    }
    let error = StructType::packed([Field::new("a", of)]).unwrap_err();
    assert_eq!(error, StructError::Field { field: "a".into(), trouble: Trouble::TooDeep });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the text, the parser answers; what it reads, it prints and reads again.
    #[test]
    fn any_text_is_answered(text in r#"[\[\]()',"\\<>|a-c0-9xuU =V\u{e9}-]{0,40}"#) {
        if let Ok(of) = StructType::from_descr(&text) {
            let descr = of.descr().expect("a description has an order");
            prop_assert_eq!(StructType::from_descr(&descr), Ok(of));
        }
    }

    /// A description with a few characters changed.
    #[test]
    fn damaged_descriptions_are_answered(row in 1..128_usize, edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..4)) {
        let rows = rows(data!("structured_descr.tsv"));
        let mut text: Vec<char> = rows[row][2].chars().collect();
        for (at, with) in edits {
            let at = at.index(text.len());
            text[at] = with;
        }
        let text: String = text.into_iter().collect();
        match StructType::from_descr(&text) {
            Ok(of) => {
                let descr = of.descr().expect("a description has an order");
                prop_assert_eq!(StructType::from_descr(&descr), Ok(of));
            }
            Err(StructError::Descr { at, .. }) => prop_assert!(at <= text.len()),
            Err(other) => prop_assert!(false, "{other:?}"),
        }
    }
}

// ---- Types ----------------------------------------------------------------------------------------------------------

#[test]
fn unsound_structs_are_refused() {
    let trouble = |made: Result<StructType, StructError>| match made {
        Err(StructError::Field { field, trouble }) => (field, trouble),
        other => panic!("{other:?}"),
    };
    let float = |name: &str| Field::new(name, DType::Float32);
    assert_eq!(trouble(StructType::packed([float("")])), (String::new(), Trouble::NoName));
    let twice = [float("a"), float("b").with_title("a")];
    assert_eq!(trouble(StructType::packed(twice)), ("b".into(), Trouble::NameTwice("a".into())));
    let packed = Encoding::packed(DType::Int4);
    let (_, refused) = trouble(StructType::packed([Field::new("a", packed)]));
    assert_eq!(refused, Trouble::Packed(packed));
    assert!(refused.to_string().contains("one per byte"));
    let outside = StructType::with_offsets([(1, float("a"))], 4);
    assert_eq!(trouble(outside), ("a".into(), Trouble::Outside { end: 5, item_size: 4 }));
    let outside = StructType::with_offsets([(usize::MAX, float("a"))], 4);
    assert_eq!(trouble(outside).1, Trouble::Outside { end: usize::MAX, item_size: 4 });
    assert_eq!(
        trouble(StructType::packed([float("a").with_shape([1; 65])])).1,
        Trouble::TooManyAxes { axes: 65 }
    );
    assert_eq!(trouble(StructType::packed([float("a").with_shape([usize::MAX / 4])])).1, Trouble::TooLarge);
    assert_eq!(StructType::with_offsets([], usize::MAX), Err(StructError::ItemTooLarge));
    let half = isize::MAX as usize / 2 + 1;
    let halves = [Field::new("a", FieldType::Void(half)), Field::new("b", FieldType::Void(half))];
    assert_eq!(StructType::packed(halves), Err(StructError::ItemTooLarge));
}

#[test]
fn overlapping_fields_are_read_and_not_written() {
    let fields = [(0, Field::new("all", DType::UInt32)), (2, Field::new("high", DType::UInt16))];
    let both = StructType::with_offsets(fields, 4).unwrap();
    assert_eq!(both.overlap(), Some(("all", "high")));
    assert!(matches!(both.descr(), Err(StructError::Field { trouble: Trouble::OutOfOrder, .. })));
    let apart = read("[('all', '<u8'), ('high', '<u8')]");
    let new = |from, to| StructPlan::new(from, to, Match::Name, &CastOptions::RUST);
    let refused = new(&apart, &both).unwrap_err();
    assert_eq!(refused, StructError::Overlap { first: "all".into(), second: "high".into() });
    let within = StructType::packed([Field::new("in", both.clone())]).unwrap();
    assert!(matches!(new(&within, &within), Err(StructError::Overlap { .. })));
    let mut dst = [0; 16];
    new(&both, &apart).unwrap().run(&0x0102_0304_u32.to_ne_bytes(), &mut dst, 1).unwrap();
    let high = if cfg!(target_endian = "little") { 0x0102_u64 } else { 0x0304 };
    assert_eq!(dst, [0x0102_0304_u64.to_le_bytes(), high.to_le_bytes()].concat()[..]);
}

#[test]
fn new_elements_keep_the_manner_of_the_layout() {
    let halved = |descr: &str| {
        let half = |_: &str, of: &FieldType| match of {
            FieldType::Element(float) if float.dtype() == DType::Float32 => {
                Encoding::new(DType::Float16).with_order(ByteOrder::Little).into()
            }
            other => other.clone(),
        };
        read(descr).with_kinds(half).and_then(|of| of.descr()).unwrap()
    };
    assert_eq!(halved("[('a', '<f4'), ('b', '<i4')]"), "[('a', '<f2'), ('b', '<i4')]");
    assert_eq!(
        halved("[('a', '|u1'), ('', '|V3'), ('b', '>f4')]"),
        "[('a', '|u1'), ('', '|V1'), ('b', '<f2')]"
    );
    assert_eq!(
        halved("[('a', '<f4'), ('b', '|u1'), ('', '|V3')]"),
        "[('a', '<f2'), ('b', '|u1'), ('', '|V1')]"
    );
    // Not what C would do: the gaps stay.
    assert_eq!(
        halved("[('a', '<f4'), ('', '|V5'), ('b', '<f4')]"),
        "[('a', '<f2'), ('', '|V5'), ('b', '<f2')]"
    );
    assert_eq!(
        halved("[('n', [('x', '<f4'), ('y', '|u1'), ('', '|V3')], (2,)), ('z', '|u1')]"),
        "[('n', [('x', '<f2'), ('y', '|u1'), ('', '|V1')], (2,)), ('z', '|u1')]"
    );
    let mut names = Vec::new();
    read("[('n', [('x', '<f4'), ('y', '|S2')]), ('z', '|u1')]")
        .with_kinds(|name, of| {
            names.push(name.to_owned());
            of.clone()
        })
        .unwrap();
    assert_eq!(names, ["n.x", "n.y", "z"]);
}

// ---- Casts ----------------------------------------------------------------------------------------------------------

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hexadecimal")).collect()
}

#[test]
fn casts_are_numpys() {
    let rows = rows(data!("structured_casts.tsv"));
    assert_eq!(rows.len(), 1 + 98);
    for row in &rows[1..] {
        let matching = match row[0] {
            "position" => Match::Position,
            "name" => Match::Name,
            "zero" => Match::NameOrZero,
            other => panic!("{other}"),
        };
        let plan = plan(row[1], row[2], matching).unwrap_or_else(|error| panic!("{row:?}: {error}"));
        let n: usize = row[3].parse().unwrap();
        let (src, mut dst, expected) = (bytes(row[4]), bytes(row[5]), bytes(row[6]));
        plan.run(&src, &mut dst, n).unwrap();
        assert_eq!(dst, expected, "{row:?}");
        let mut dst = bytes(row[5]);
        let reports = plan.run_counted(&src, &mut dst, n).unwrap();
        assert_eq!(dst, expected, "counted {row:?}");
        assert!(plan.casts().zip(&reports).all(|(cast, report)| report.elements == (n * cast.count) as u64));
    }
}

#[test]
fn what_numpy_cuts_off_or_refuses_is_refused() {
    let shapes = |from: &str, to: &str| match plan(
        &format!("[('a', '<f4', {from})]"),
        &format!("[('b', '<f8', {to})]"),
        Match::Position,
    ) {
        Ok(_) => None,
        Err(StructError::Field { field, trouble: Trouble::Shape { src, dst } }) => {
            assert_eq!(field, "b");
            Some((src, dst))
        }
        Err(other) => panic!("{other}"),
    };
    assert_eq!(shapes("(2,)", "(3,)"), Some((vec![2], vec![3])));
    assert_eq!(shapes("(3,)", "(2,)"), Some((vec![3], vec![2])));
    assert_eq!(shapes("(3,)", "()"), Some((vec![3], vec![])));
    assert_eq!(shapes("(2, 3)", "(3,)"), Some((vec![2, 3], vec![3])));
    assert_eq!(shapes("(0,)", "(2,)"), Some((vec![0], vec![2])));
    for (from, to) in
        [("(1, 1)", "()"), ("()", "(2, 3)"), ("(3,)", "(2, 3)"), ("(1, 3)", "(3,)"), ("(1,)", "(0,)")]
    {
        assert_eq!(shapes(from, to), None, "{from} {to}");
    }
    let kinds = |from: &str, to: &str| {
        let made = plan(&format!("[('a', {from})]"), &format!("[('a', {to})]"), Match::Position);
        match made {
            Err(StructError::Field { trouble: trouble @ Trouble::Kinds { .. }, .. }) => trouble.to_string(),
            other => panic!("{from} {to}: {other:?}"),
        }
    };
    assert_eq!(kinds("'S3'", "'|u1'"), "text of 3 bytes (S3) cannot become uint8");
    assert_eq!(kinds("'<U3'", "'S3'"), "text of 3 characters (U3) cannot become text of 3 bytes (S3)");
    assert_eq!(kinds("'|i1'", "'V4'"), "int8 cannot become 4 bytes of unknown meaning (V4)");
    assert_eq!(kinds("[('x', 'f4'), ('y', 'f4')]", "'|i1'"), "a struct of 2 fields cannot become int8");
    assert!(kinds("'V4'", "'U4'").ends_with("text of 4 characters (U4)"));
    let counts = plan("[('a', 'f4'), ('b', 'f4')]", "[('a', 'f4')]", Match::Position).unwrap_err();
    assert_eq!(counts, StructError::FieldCount { field: String::new(), src: 2, dst: 1 });
    assert!(counts.to_string().contains("match by name"), "{counts}");
    let within = plan("[('n', [('a', 'f4'), ('b', 'f4')])]", "[('n', [('a', 'f4')])]", Match::Position);
    assert!(matches!(within, Err(StructError::FieldCount { field, .. }) if field == "n"));
    // One element to a struct has no name.
    let named = plan("[('n', 'f4')]", "[('n', [('a', 'f4')])]", Match::Name).unwrap_err();
    assert!(named.to_string().contains("cannot become a struct"), "{named}");
}

#[test]
fn short_buffers_and_too_many_items_are_refused() {
    let plan = plan("[('a', '<f4'), ('b', '|u1')]", "[('a', '<f8'), ('b', '|u1')]", Match::Position).unwrap();
    let mut dst = [7; 18];
    let short = plan.run(&[0; 9], &mut dst, 2).unwrap_err();
    assert_eq!(short, StructError::BufferTooSmall { which: Side::Source, need: 10, have: 9 });
    let short = plan.run(&[0; 10], &mut dst[..17], 2).unwrap_err();
    assert_eq!(short, StructError::BufferTooSmall { which: Side::Destination, need: 18, have: 17 });
    let many = plan.run(&[0; 10], &mut dst, usize::MAX / 2).unwrap_err();
    assert_eq!(many, StructError::TooLarge { items: usize::MAX / 2, item_size: 5 });
    assert_eq!(dst, [7; 18]);
    plan.run(&[], &mut [], 0).unwrap();
    // Items of no bytes are as many as one likes.
    let nothing = StructPlan::new(&read("[]"), &read("[]"), Match::Position, &CastOptions::RUST).unwrap();
    nothing.run(&[], &mut [], usize::MAX).unwrap();
    assert_eq!(nothing.run_counted(&[], &mut [], usize::MAX), Ok(vec![]));
    let empty = "[('a', '<f4', (0, 9)), ('b', '|V0')]";
    let empty = StructPlan::new(&read(empty), &read(empty), Match::Name, &CastOptions::RUST).unwrap();
    empty.checked(Level::Range).run(&[], &mut [], usize::MAX).unwrap();
    let refused = CastPlan::new(DType::Int8, DType::Int8, &CastOptions::RUST)
        .unwrap()
        .run(Bytes::new(&[], 1), BytesMut::new(&mut [], 1));
    assert!(matches!(
        StructError::from(refused.unwrap_err()),
        StructError::Cast(CastError::BufferTooSmall { .. })
    ));
}

#[test]
fn losses_are_counted_and_refused_by_field() {
    let plan = plan(
        "[('n', [('x', '<f4', (2,)), ('y', '<f4')]), ('k', '<i2'), ('s', 'S2')]",
        "[('n', [('x', '|u1', (2,)), ('y', '|i1')]), ('k', '|u1'), ('s', 'S2')]",
        Match::Position,
    )
    .unwrap();
    let item = |x: [f32; 2], y: f32, k: i16| {
        [&x[0].to_le_bytes()[..], &x[1].to_le_bytes(), &y.to_le_bytes(), &k.to_le_bytes(), b"ok"].concat()
    };
    let mut src = vec![];
    for i in 0..3000 {
        let x = if i % 1000 == 999 { [1.0, 256.0] } else { [1.0, 2.0] };
        src.extend(item(x, if i == 1500 { f32::NAN } else { 3.0 }, i));
    }
    let mut dst = vec![0; 3000 * 6];
    let reports = plan.run_counted(&src, &mut dst, 3000).unwrap();
    let casts: Vec<_> = plan.casts().map(|cast| (cast.field.to_owned(), cast.count)).collect();
    assert_eq!(casts, [("n.x".into(), 2), ("n.y".into(), 1), ("k".into(), 1)]);
    assert_eq!((reports[0].elements, reports[0].wrapped), (6000, 3));
    assert_eq!((reports[1].nan_lost, reports[2].wrapped), (1, 3000 - 256));
    let mut plain = vec![0; 3000 * 6];
    plan.run(&src, &mut plain, 3000).unwrap();
    assert_eq!(plain, dst);
    match plan.checked(Level::Range).run(&src, &mut dst, 3000) {
        Err(StructError::Rejected { field, item, rejection }) => {
            assert_eq!((field.as_str(), item, rejection.index), ("n.x", 999, 1999));
        }
        other => panic!("{other:?}"),
    }
    let fine: Vec<u8> = (0..200).flat_map(|i| item([1.0, 2.0], 3.0, i)).collect();
    plan.checked(Level::Range).run(&fine, &mut dst, 200).unwrap();
    assert_eq!(dst[..200 * 6], plain[..200 * 6]);
}

#[test]
fn many_items_are_cast_in_blocks() {
    let from = read("[('x', '<f4'), ('y', '<f4'), ('t', '>f8'), ('id', '<u4'), ('p', '<f4', (3,))]");
    let to = read("[('t', '<f4'), ('p', '<f2', (3,)), ('id', '<u4'), ('y', '<f2'), ('x', '<f2')]");
    let plan = StructPlan::new(&from, &to, Match::Name, &CastOptions::RUST).unwrap();
    let n = 20_001;
    let mut src = Vec::new();
    let mut expected = Vec::new();
    for i in 0..n {
        let f = |k: usize| (i * 7 + k) as f32 / 8.0;
        for k in 0..2 {
            src.extend(f(k).to_le_bytes());
        }
        src.extend(f64::from(f(2)).to_be_bytes());
        src.extend((i as u32).to_le_bytes());
        (3..6).for_each(|k| src.extend(f(k).to_le_bytes()));
        let h = |k: usize| half(f(k));
        expected.extend(f(2).to_le_bytes());
        (3..6).for_each(|k| expected.extend(h(k)));
        expected.extend((i as u32).to_le_bytes());
        expected.extend(h(1));
        expected.extend(h(0));
    }
    let mut dst = vec![0; n * to.item_size()];
    plan.run(&src, &mut dst, n).unwrap();
    assert!(dst == expected);
}

fn half(x: f32) -> [u8; 2] {
    lanecast::half::f16::from_f32(x).to_le_bytes()
}
