// The filter of the first page, and copying. Without it the pages still show everything.
"use strict";

function words(text) {
  return text.toLowerCase().split(/[^\p{L}\p{N}_.]+/u).filter(Boolean);
}

// A word that is a paper, item, scale or verdict finds the claims that are of it; any other one
// finds claims in which it begins a word.
function makeFilter(input) {
  const items = Array.from(document.getElementById(input.dataset.filters).querySelectorAll("[data-item]"));
  const claims = Array.from(document.querySelectorAll("[data-facts]"));
  const facts = new Map(claims.map((claim) => [claim, new Set(words(claim.dataset.facts))]));
  const known = new Set(claims.flatMap((claim) => Array.from(facts.get(claim))));
  const own = (node) => words(node.textContent);
  const texts = new Map([...claims, ...items].map((node) => [node, own(node)]));
  const output = document.querySelector(`output[for="${input.id}"]`);
  const buttons = Array.from(document.querySelectorAll("button[data-word]"));
  const begins = (node, word) => texts.get(node).some((each) => each.startsWith(word));
  const fits = (claim, word) => known.has(word) ? facts.get(claim).has(word) : begins(claim, word);

  const apply = () => {
    const wanted = words(input.value);
    let shown = 0;
    for (const item of items) {
      const mine = Array.from(item.querySelectorAll("[data-facts]"));
      for (const claim of mine) claim.hidden = !wanted.every((word) => fits(claim, word));
      const left = mine.filter((claim) => !claim.hidden).length;
      // An item without claims is found by its own words.
      item.hidden = wanted.length > 0 && !left && (mine.length > 0 || !wanted.every((word) => begins(item, word)));
      shown += left;
    }
    output.textContent = `${shown} of ${claims.length} claims`;
    for (const button of buttons) {
      button.setAttribute("aria-pressed", wanted.includes(button.dataset.word));
    }
  };
  // The address holds the filter: index.html#q=supar+contradicted
  const remember = () => {
    const asked = new URLSearchParams(input.value.trim() ? { q: input.value.trim() } : {});
    history.replaceState(null, "", `#${asked}`);
    apply();
  };
  const restore = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    // Any other fragment is a place on the page.
    if (location.hash && !asked.has("q")) return;
    input.value = asked.get("q") ?? "";
    apply();
    // Who follows a link to claims is to see them, and not the cards above.
    if (location.hash) input.closest(".filter").scrollIntoView();
  };
  // A word more, in the place of another one of its group, or a word less.
  const press = (button) => {
    const group = new Set(Array.from(button.parentElement.children, (each) => each.dataset.word));
    const kept = words(input.value).filter((word) => !group.has(word));
    const pressed = button.getAttribute("aria-pressed") === "true";
    input.value = [...kept, ...(pressed ? [] : [button.dataset.word])].join(" ");
    remember();
  };

  input.closest(".scripted").hidden = false;
  input.addEventListener("input", remember);
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

document.querySelectorAll("input[data-filters]").forEach(makeFilter);
document.querySelectorAll("pre").forEach(makeCopyable);
