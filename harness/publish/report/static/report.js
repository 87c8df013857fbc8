// Sorting and filtering of the overview. Without it the page still shows every row.
"use strict";

function sortTable(table, column, direction) {
  const body = table.tBodies[0];
  const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
  // Rows without a value stay last in both directions.
  const compare = (a, b) => {
    const [left, right] = [key(a), key(b)];
    if (!left || !right) return (left ? 0 : 1) - (right ? 0 : 1);
    return direction * left.localeCompare(right, "en", { numeric: true });
  };
  body.append(...Array.from(body.rows).sort(compare));
}

function makeSortable(table) {
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const ascending = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) {
        if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      }
      head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      sortTable(table, column, ascending ? 1 : -1);
    });
  });
}

// A row is shown if each word of the filter begins a word of the row, so that "reproduced"
// does not find NOT_REPRODUCED. The files column says nothing of its own.
function words(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}_.]+/u).filter(Boolean);
}

function makeFilter(input) {
  const rows = Array.from(document.getElementById(input.dataset.filters).tBodies[0].rows);
  const texts = rows.map((row) =>
    Array.from(row.cells).slice(0, -1).flatMap((cell) => words(cell.textContent)));
  const output = document.querySelector(`output[for="${input.id}"]`);
  const apply = () => {
    const wanted = words(input.value);
    let shown = 0;
    rows.forEach((row, index) => {
      const hit = wanted.every((word) => texts[index].some((own) => own.startsWith(word)));
      row.hidden = !hit;
      shown += hit ? 1 : 0;
    });
    output.textContent = `${shown} of ${rows.length} rows`;
  };
  input.addEventListener("input", apply);
  apply();
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("input[data-filters]").forEach(makeFilter);
