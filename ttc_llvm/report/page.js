"use strict";
// Columns are sorted by the buttons in their headings; values come from data-v where the text is rounded.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0], prefix = table.dataset.prefix;
  const value = (row, k) => row.cells[k].dataset.v ?? row.cells[k].textContent;
  const compare = (a, b) => {
    if (a === "" || b === "") return 0;
    const x = Number(a), y = Number(b);
    return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, "en", { numeric: true }) : x - y;
  };
  const sort = (head) => {
    const k = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    const rows = [...body.rows].sort((p, q) => {
      const a = value(p, k), b = value(q, k);
      if ((a === "") !== (b === "")) return a === "" ? 1 : -1; // what is missing goes last either way
      return down ? compare(b, a) : compare(a, b);
    });
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  };
  for (const button of table.querySelectorAll("th button")) {
    button.addEventListener("click", () => sort(button.parentNode));
  }
  const filter = document.getElementById(`${prefix}filter`), shown = document.getElementById(`${prefix}shown`);
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    let count = 0;
    for (const row of body.rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      count += row.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${body.rows.length} rows`;
  });
  document.getElementById(`${prefix}csv`).addEventListener("click", () => {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    const rows = [...body.rows].map((row) => heads.map((_, k) => value(row, k)));
    const text = [heads, ...rows].map((row) => row.map(quoted).join(",") + "\n").join("");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = `${prefix}results.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  });
}
