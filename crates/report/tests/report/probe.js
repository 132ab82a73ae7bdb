// The faults of the present page, as sentences; at most ten of a kind.
(() => {
  const faults = [];
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) faults.push(`scrolls sideways: ${page.scrollWidth}`);

  // Text on text.
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.data.trim() || !parent.checkVisibility()) continue;
    if (parent.closest(".vh, .skip, script, style, option")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width > 1 && box.height > 1) boxes.push([box, node]);
    }
  }
  boxes.sort((one, other) => one[0].top - other[0].top);
  let overlaps = 0;
  for (let first = 0; first < boxes.length; first += 1) {
    const [one, node] = boxes[first];
    for (let next = first + 1; next < boxes.length && boxes[next][0].top < one.bottom; next += 1) {
      const [other, beside] = boxes[next];
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      // Lines of text have room above and below their letters.
      if (node !== beside && width > 1 && height > 3 && (overlaps += 1) <= 10) {
        faults.push(`overlap: "${node.data.slice(0, 40)}" and "${beside.data.slice(0, 40)}"`);
      }
    }
  }

  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) faults.push("an id is used twice");
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    const id = link.getAttribute("href").slice(1);
    if (!document.getElementById(id)) faults.push(`no target of ${id}`);
  }
  for (const graph of document.querySelectorAll('svg[role="img"]')) {
    const figure = graph.closest("figure");
    if (!graph.querySelector("title")?.textContent.trim()) faults.push("a graph has no title");
    const axes = [...figure.querySelectorAll(".axis")].filter((axis) => axis.textContent.trim());
    if (axes.length < 2) faults.push("an axis has no unit");
  }
  if (/\b(NaN|Infinity|undefined)\b/.test(document.body.innerText)) faults.push("nonsense");
  return faults;
})()
