//! The page of speeds: one HTML file with the records, the script and the style in it.
//!
//! The file opens from a disk without a server and requests nothing. The same records give the same bytes.

use super::record::Stored;

const TEMPLATE: &str = include_str!("page/template.html");
const STYLE: &str = concat!(include_str!("page/page.css"), include_str!("page/print.css"));
/// The parts share one scope, so each uses what those before it declare.
const SCRIPT: &str = concat!(
    include_str!("page/data.js"),
    include_str!("page/colour.js"),
    include_str!("page/map.js"),
    include_str!("page/panel.js"),
    include_str!("page/dimensions.js"),
    include_str!("page/detail.js"),
    include_str!("page/tables.js"),
    include_str!("page/page.js"),
);

/// The page of these records.
///
/// # Errors
///
/// If no record has a matrix, or one cannot be written as JSON.
pub fn page(records: &[Stored]) -> Result<String, String> {
    if records.iter().all(|stored| stored.record.blocks.is_empty()) {
        return Err("no record has a matrix: `lanecast-bench run` and `store` make one".into());
    }
    let item = |stored: &Stored| {
        let name = serde_json::to_string(&stored.name).map_err(|error| error.to_string())?;
        Ok(format!("{{\"name\":{name},\"record\":{}}}", stored.record.to_json()?.trim_end()))
    };
    let items = records.iter().map(item).collect::<Result<Vec<_>, String>>()?;
    // In a script element, `</script` would end it and `<!--` would change how it is read.
    let data = format!("[\n{}\n]", items.join(",\n")).replace('<', "\\u003c");
    let mut html = String::new();
    let mut rest = TEMPLATE;
    for (mark, part) in [("{{style}}", STYLE), ("{{data}}", &data), ("{{script}}", SCRIPT)] {
        let (before, after) = rest.split_once(mark).ok_or_else(|| format!("the template has no {mark}"))?;
        html += before;
        html += part.trim_end();
        rest = after;
    }
    Ok(html + rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed::record::tests::record;

    fn stored(cpu: &str) -> Stored {
        let mut record = record("2026-11-25T01:00Z", 0.05);
        record.machine.cpu = cpu.into();
        Stored { name: "machine/2026-11-25-0123456789ab".into(), record }
    }

    #[test]
    fn the_page_has_every_part_and_requests_nothing() {
        let html = page(&[stored("AMD EPYC")]).expect("a page");
        assert!(!html.contains("{{"), "a mark is left");
        for part in ["<style>", "AMD EPYC", "\"ns\":[0.05]", "location.hash"] {
            assert!(html.contains(part), "no {part:?}");
        }
        for request in ["src=", "href=\"http", "@import", "url(", "fetch("] {
            assert!(!html.contains(request), "{request} requests something");
        }
    }

    #[test]
    fn data_cannot_leave_its_element() {
        let html = page(&[stored("</script><script>alert(1)</script><!--")]).expect("a page");
        assert_eq!(html.matches("</script>").count(), 2, "one of the data, one of the script");
        assert!(!html.contains("<!--"));
        let start = html.find("type=\"application/json\"").expect("the data");
        let json =
            html[start..].split_once('>').expect("a tag").1.split("</script>").next().expect("its end");
        let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(value[0]["record"]["machine"]["cpu"], "</script><script>alert(1)</script><!--");
    }
}
