"use strict";
// Filters and sorts the map and keeps that in the address. Without it the page is complete.
(() => {
  const table = document.querySelector("table.map");
  const controls = document.getElementById("controls");
  if (!table || !controls) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const steps = rows.filter((row) => row.classList.contains("step"));
  const state = { f: "", c: "", sort: "", m: "" };

  const make = (name, attributes, text) => {
    const element = document.createElement(name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text) element.textContent = text;
    return element;
  };

  const search = make("input", { type: "search", id: "f-step" });
  const clients = make("select", { id: "f-clients" });
  const count = make("output", { for: "f-step f-clients" });
  const label = (input, text) => {
    const element = make("label", { for: input.id }, text + " ");
    element.append(input);
    controls.append(element);
  };

  const numbers = [...new Set(steps.map((row) => row.dataset.clients))];
  clients.append(make("option", { value: "" }, "all"));
  for (const number of numbers) clients.append(make("option", { value: number }, number));
  label(search, "Steps with");
  if (numbers.length > 1) label(clients, "Clients");
  controls.append(count);
  controls.hidden = false;

  // The value of a row in a column, as the chosen figures show it; rows without one come last.
  const value = (row, column) => {
    const cell = row.cells[column];
    const shown = [...cell.querySelectorAll(".fig")].find((part) => part.checkVisibility());
    const data = (shown || cell).querySelector("data");
    return data ? Number(data.value) : Infinity;
  };

  const store = () => {
    const parts = Object.entries(state).filter(([, text]) => text);
    const text = parts.map(([key, text]) => key + "=" + encodeURIComponent(text)).join("&");
    const address = text ? "#?" + text : location.pathname + location.search;
    try { history.replaceState(null, "", address); } catch { /* refused for some file addresses */ }
  };

  const apply = () => {
    const words = state.f.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of steps) {
      const name = row.dataset.step.toLowerCase();
      const fits = words.every((word) => name.includes(word)) &&
        (!state.c || row.dataset.clients === state.c);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    const [column, direction] = state.sort.split(".");
    const sorted = state.sort !== "";
    for (const row of rows) if (!row.classList.contains("step")) row.hidden = sorted;
    if (sorted) {
      const sign = direction === "d" ? -1 : 1;
      const keyed = steps.map((row) => [value(row, Number(column)), row]);
      keyed.sort((a, b) => {
        const known = Number.isFinite(a[0]) && Number.isFinite(b[0]);
        return known ? sign * (a[0] - b[0]) : Number(a[0] === Infinity) - Number(b[0] === Infinity);
      });
      body.append(...keyed.map(([, row]) => row));
    } else {
      body.append(...rows);
    }
    for (const cell of table.tHead.rows[0].cells) {
      const own = String(cell.cellIndex) === column && sorted;
      if (own) cell.setAttribute("aria-sort", direction === "d" ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
      const sign = cell.querySelector("button");
      if (sign) sign.textContent = own ? (direction === "d" ? "↓" : "↑") : "↕";
    }
    count.textContent = shown === steps.length ? "" : shown + " of " + steps.length + " rows";
  };

  const change = (key, text) => {
    state[key] = text;
    store();
    apply();
  };

  for (const cell of [...table.tHead.rows[0].cells].slice(2)) {
    const name = cell.textContent.trim();
    const button = make("button", { type: "button", "aria-label": "sort by " + name }, "↕");
    button.addEventListener("click", () => {
      const column = String(cell.cellIndex);
      const next = { "": ".a", ".a": ".d", ".d": "" };
      const now = state.sort.startsWith(column + ".") ? state.sort.slice(column.length) : "";
      change("sort", next[now] ? column + next[now] : "");
    });
    cell.append(" ", button);
  }
  search.addEventListener("input", () => change("f", search.value));
  clients.addEventListener("change", () => change("c", clients.value));
  const modes = [...document.querySelectorAll("input[name=mode]")];
  for (const mode of modes) mode.addEventListener("change", () => change("m", mode.id));

  // The address that another person sent.
  if (location.hash.startsWith("#?")) {
    for (const part of location.hash.slice(2).split("&")) {
      const [key, text] = part.split("=");
      if (!(key in state)) continue;
      try { state[key] = decodeURIComponent(text || ""); } catch { /* not ours */ }
    }
    if (!/^\d+\.[ad]$/.test(state.sort) || !table.tHead.rows[0].cells[parseInt(state.sort, 10)]) {
      state.sort = "";
    }
    search.value = state.f;
    clients.value = state.c;
    for (const mode of modes) if (mode.id === state.m) mode.checked = true;
  }
  apply();
})();
