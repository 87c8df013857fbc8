// Sorting and filtering of the overview, and copying. Without it the pages still show everything.
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

// A word that is a paper, item, profile or verdict finds the rows that are of it, so that
// "reproduced" does not find NOT_REPRODUCED. Any other one finds rows in which it begins a word,
// also of a claim. The files column says nothing of its own.
function words(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}_.]+/u).filter(Boolean);
}

function makeFilter(input) {
  const rows = Array.from(document.getElementById(input.dataset.filters).tBodies[0].rows);
  const facts = rows.map((row) => new Set(words(row.dataset.facts)));
  const known = new Set(facts.flatMap((own) => Array.from(own)));
  const texts = rows.map((row) =>
    [...Array.from(row.cells).slice(0, -1).map((cell) => cell.textContent), row.dataset.statements]
      .flatMap(words));
  const output = document.querySelector(`output[for="${input.id}"]`);
  const buttons = Array.from(document.querySelectorAll("button[data-word]"));
  const smoke = document.getElementById("smoke");
  const fits = (index, word) => known.has(word)
    ? facts[index].has(word)
    : texts[index].some((own) => own.startsWith(word));

  const apply = () => {
    const wanted = words(input.value);
    if (smoke && wanted.includes("smoke")) smoke.checked = true;
    rows.forEach((row, index) => { row.hidden = !wanted.every((word) => fits(index, word)); });
    // What is unchecked, the style sheet hides.
    const shown = rows.filter((row) => getComputedStyle(row).display !== "none").length;
    output.textContent = `${shown} of ${rows.length} rows`;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", wanted.includes(button.dataset.word.toLowerCase()));
    }
  };

  // The address holds the filter: index.html#q=cpu+not_reproduced
  const remember = () => {
    const asked = new URLSearchParams();
    if (input.value.trim()) asked.set("q", input.value.trim());
    if (smoke?.checked) asked.set("smoke", "1");
    history.replaceState(null, "", `#${asked}`);
  };
  const restore = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    // Any other fragment is a place on the page.
    if (location.hash && !asked.has("q") && !asked.has("smoke")) return;
    input.value = asked.get("q") ?? "";
    if (smoke) smoke.checked = asked.has("smoke");
    apply();
    // Who follows a link to rows is to see them, and not the cards above.
    if (location.hash) input.closest(".filter").scrollIntoView();
  };
  const change = () => { apply(); remember(); };

  // A word more, in the place of another one of its group, or a word less.
  const press = (button) => {
    const group = new Set(Array.from(button.parentElement.children, (own) => own.dataset.word.toLowerCase()));
    const kept = input.value.split(/\s+/).filter((word) => word && !group.has(word.toLowerCase()));
    const pressed = button.getAttribute("aria-pressed") === "true";
    input.value = [...kept, ...(pressed ? [] : [button.dataset.word.toLowerCase()])].join(" ");
    change();
  };

  input.closest(".scripted").hidden = false;
  input.addEventListener("input", change);
  smoke?.addEventListener("change", change);
  buttons.forEach((button) => button.addEventListener("click", () => press(button)));
  window.addEventListener("hashchange", restore);
  apply();
  restore();
}

function makeCopyable(pre) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      // Not allowed here: what is selected can be copied by hand.
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
  });
  const box = document.createElement("div");
  box.className = "copyable";
  pre.replaceWith(box);
  box.append(pre, button);
}

document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll("input[data-filters]").forEach(makeFilter);
document.querySelectorAll("pre").forEach(makeCopyable);
