// Tables: further results, and the head of a record.

const number = (value) => (typeof value === "number" ? value.toLocaleString("en", { maximumSignificantDigits: 4 }) : escape(value ?? "–"));

/** Results that no map shows: scaled casts, layouts, threads. */
function drawTables(element, data) {
  const one = ({ name, note, columns, rows }) => {
    const head = columns.map((column) => `<th scope="col">${escape(column)}</th>`).join("");
    const body = rows.map((row) => {
      const [first, ...rest] = row;
      const cells = rest.map((value) => `<td${typeof value === "number" ? ' class="num"' : ""}>${number(value)}</td>`);
      return `<tr><th scope="row">${number(first)}</th>${cells.join("")}</tr>`;
    });
    return `<h2>${escape(name)}</h2><p>${escape(note)}</p>
      <div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body.join("")}</tbody></table></div>`;
  };
  element.innerHTML = data.record.tables.map(one).join("") || "<p>This machine has no further results.</p>";
}

/** Where a record was measured. */
function machineRows({ record }, set) {
  const { machine } = record;
  const caches = Object.entries(machine.caches).map(([name, bytes]) => `${name} ${bytes >> 10} KiB`);
  const rates = record.blocks
    .filter((block) => block.memcpy_gbps)
    .map((block) => `${SIZES[block.size].name} beside ${block.tier} ${digits(block.memcpy_gbps, 3)}`);
  return [
    ["CPU", `${machine.cpu} (${machine.cpu_id})`],
    ["Caches", caches.join(", ")],
    ["CPU features", machine.features.join(" ")],
    ["Target and system", `${machine.target}, ${machine.os}`],
    ["Compiler", machine.rustc],
    ["Commit", machine.commit],
    ["Date", machine.date],
    ["Processes", record.processes === 1 ? "1" : `${record.processes}; each figure is the median over them`],
    ["Memory footprint", `${record.dram_bytes >> 20} MiB`],
    ["Source values", `${record.inputs}${record.unaligned ? ", both buffers one element off their alignment" : ""}`],
    ["memcpy, GB/s", rates.join(", ")],
    ["Dimensions", set ? `${set.name}; ${set.record.dimensions[0].processes} processes, commit ${set.record.machine.commit}` : "none"],
    ["Peers", Object.entries(record.versions).map(([name, version]) => `${name} ${version}`).join(", ")],
  ];
}

function drawMachine(element, data, set) {
  const rows = machineRows(data, set).map(([name, value]) => `<tr><th scope="row">${name}</th><td>${escape(value)}</td></tr>`);
  element.innerHTML = `<div class="wide"><table><tbody>${rows.join("")}</tbody></table></div>`;
}

/** Saves the record as it is stored. */
function save(data) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(data.record)], { type: "application/json" }));
  link.download = `${data.name.replace("/", "-")}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
