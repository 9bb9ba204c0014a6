// The panel: everything that is known of one pair.

/** A bar for each contender, as long as its time relative to ours; shorter is faster. */
function bars(rows) {
  const longest = Math.max(...rows.map((row) => row.ratio));
  const bar = ({ name, ratio, ns, ours, differs }) =>
    `<div class="row${ours ? " ours" : ""}"><span class="who">${escape(name)}</span>
      <span class="track"><span style="width:${Math.max(0.5, (100 * ratio) / longest)}%"></span></span>
      <span class="num">${digits(ratio, ratio < 1 ? 2 : 3)} ×${differs ? "*" : ""}</span>
      <span class="num soft">${ns === null ? "" : `${digits(ns, 3)} ns`}</span></div>`;
  return `<div class="bars">${rows.map(bar).join("")}</div>`;
}

/** lanecast and the peers of the pair at the chosen size. */
function peersPart(state, here) {
  if (here.peers.length === 0) return "<p>No peer was measured on this pair with this size, tier and mode.</p>";
  const ours = { name: "lanecast", ratio: 1, ns: here.ns, ours: true };
  const rows = here.peers.map(({ peer, ratio, ns, differing }) => ({ name: peer, ratio, ns, differs: differing > 0 }));
  const differing = here.peers.filter((peer) => peer.differing > 0);
  const footnote = differing.length
    ? `<p class="small">* Other results than ours: ${differing.map((p) => `${escape(p.peer)} in ${percent(p.differing, 2)} of the elements`).join("; ")}.</p>`
    : "";
  const unit = SIZES[state.size].small ? "call" : "element";
  return `<p class="small">Time divided by ours, and nanoseconds per ${unit}. The ratios of Python packages are relative to a copy in
    their own process.</p>${bars([ours, ...rows])}${footnote}`;
}

/** Sizes by tiers: fraction, time and rate of the pair. */
function sizesPart(data, state, cast) {
  const tiers = data.tiers;
  const cell = (tier, size) => {
    const f = figures(data, cast, tier, size);
    const chosen = tier === state.tier && size === state.size ? ' class="chosen"' : "";
    if (!f) return `<td${chosen}>–</td>`;
    if (SIZES[size].small) return `<td${chosen}><b>${digits(f.ns, 3)}</b> ns${f.memcpy ? `, memcpy ${digits(f.memcpy, 2)}` : ""}</td>`;
    const target = f.target !== null ? ` <small>of ${percent(f.target)}</small>` : "";
    return `<td${chosen}><b>${percent(f.fraction)}</b>${target}<br>${digits(f.ns, 3)} ns, ${digits(f.gbps, 3)} GB/s</td>`;
  };
  const part = (sizes, title) => {
    if (sizes.length === 0) return "";
    const rows = sizes.map(
      (size) => `<tr><th scope="row">${SIZES[size].name}</th>${tiers.map((tier) => cell(tier, size)).join("")}</tr>`,
    );
    const head = tiers.map((tier) => `<th scope="col">${tier}</th>`).join("");
    return `<h3>${title}</h3><div class="wide"><table><thead><tr><td></td>${head}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
  };
  const [small, large] = [true, false].map((is) => data.sizes.filter((size) => Boolean(SIZES[size].small) === is));
  return part(large, "By size: fraction of the limit, time per element, rate") + part(small, "Small calls, by elements");
}

/** The modes of a pair side by side, where it has several. */
function modesPart(data, state, casts) {
  if (casts.length < 2) return "";
  const rows = casts.map((cast) => {
    const f = figures(data, cast, state.tier, state.size);
    const name = `${MODES[cast.mode] ?? cast.mode}${cast.standard ? " (default)" : ""}`;
    return `<tr><th scope="row">${name}</th><td>${f ? digits(f.ns, 3) : "–"} ns</td><td>${f?.fraction ? percent(f.fraction) : "–"}</td></tr>`;
  });
  return `<h3>Values out of range</h3><table><tbody>${rows.join("")}</tbody></table>`;
}

function optionsPart(data, state, cast) {
  const options = data.options.get(`${state.tier}/${cast.at}`);
  if (!options) return "";
  const rows = options.map(({ option, ratio }) => `<tr><th scope="row"><code>${escape(option)}</code></th><td>${digits(ratio, 3)} ×</td></tr>`);
  return `<h3>Other options, L2: time divided by the default's</h3><table><tbody>${rows.join("")}</tbody></table>`;
}

/** One sentence with what matters most. */
function sentence(state, here) {
  if (!here) return "This cast was not measured on this tier at this size.";
  const small = SIZES[state.size].small;
  const first = small
    ? `${SIZES[state.size].long.replace("a call", "A call")} takes ${digits(here.ns, 3)} ns.`
    : `One element takes ${digits(here.ns, 3)} ns (${digits(here.gbps, 3)} GB/s): ${percent(here.fraction)} of the limit.`;
  const best = here.peers[0];
  const second = best ? ` The best peer, ${escape(best.peer)}, takes ${digits(best.ratio, 3)} times as long.` : "";
  return first + second;
}

/** Two lists to choose a pair without the map. */
function choosers(data, from, to) {
  const option = (chosen) => (label) => `<option${label === chosen ? " selected" : ""}>${escape(label)}</option>`;
  const list = (id, text, chosen) =>
    `<label>${text} <select id="${id}">${data.labels.map(option(chosen)).join("")}</select></label>`;
  return `<div class="choose">${list("from", "from", from)}${list("to", "to", to)}</div>`;
}

/** Draws the panel of the chosen pair. */
function drawPanel(element, data, state, other) {
  const [from, to] = state.pair.split(":");
  const [a, b] = [from, to].map((label) => data.labels.indexOf(label));
  const cast = castOf(data, a, b, state.mode);
  const close = '<button type="button" id="close" aria-label="Close">×</button>';
  const head = `${close}<h2>${escape(from)} → ${escape(to)}</h2>${choosers(data, from, to)}`;
  if (!cast) {
    element.innerHTML = `${head}<p>This pair was not measured in these storages.</p>`;
    return "not measured";
  }
  const here = figures(data, cast, state.tier, state.size);
  const said = sentence(state, here);
  const kind = data.record.classes[cast.kind];
  const chosen = `${state.tier}, ${SIZES[state.size].long}${cast.mode === "only" ? "" : `, ${MODES[cast.mode]}`}`;
  const cell = other && cellOf(data, state, a, b, other);
  const beside = cell ? `<p>${escape(other.record.machine.cpu)}, ${state.otherTier}: ${digits(cell.there.ns, 3)} ns, ${digits(cell.value, 3)} times the time here.</p>` : "";
  element.innerHTML = `${head}<p class="small">${chosen}; class ${kind}</p><p class="lead">${said}</p>${beside}
    ${here ? `<h3>Beside other libraries</h3>${peersPart(state, here)}` : ""}
    ${sizesPart(data, state, cast)}${modesPart(data, state, data.pairs.get(`${a}:${b}`))}${optionsPart(data, state, cast)}`;
  return said;
}
