// The page's address: what is chosen on the page stands in it, so that what is seen
// can be sent on, and a link to a part opens that part.

// Controls whose state belongs to the address, by their ids, and what they say at first.
const controls = [...document.querySelectorAll(".controls :is(input, select)[id], .against select")];
const isSwitch = ({ type }) => type === "checkbox";
const stateOf = (control) => (isSwitch(control) ? (control.checked ? "on" : "off") : control.value);
const usual = new Map();
const asked = new URLSearchParams(location.search);
for (const control of controls) {
  if (isSwitch(control)) control.checked = control.defaultChecked;
  usual.set(control.id, stateOf(control));
  const state = asked.get(control.id);
  if (state === null) continue;
  if (isSwitch(control)) control.checked = state === "on";
  else if (!control.options || [...control.options].some(({ value }) => value === state)) control.value = state;
}

// Writes what differs from the page as it was made; what others have put there stays.
let writing = 0;
const state = new Map();
function keep(name, value, first) {
  state.set(name, value === first ? null : value);
  clearTimeout(writing);
  writing = setTimeout(() => {
    const address = new URL(location.href);
    for (const [name, value] of state) value === null ? address.searchParams.delete(name) : address.searchParams.set(name, value);
    history.replaceState(null, "", address);
  }, 150);
}
for (const control of controls) {
  control.addEventListener("input", () => keep(control.id, stateOf(control), usual.get(control.id)));
}

// A link to a folded part opens it.
function unfold() {
  let name = "";
  try {
    name = decodeURIComponent(location.hash.slice(1));
  } catch {
    // A hash that is no text leads nowhere.
  }
  const target = document.getElementById(name);
  if (target?.tagName === "DETAILS") target.open = true;
}
window.addEventListener("hashchange", unfold);
unfold();

// A row and a picture have a link to themselves, which is copied by a click, besides being followed.
for (const part of document.querySelectorAll("tr[id], figure.picture[id]")) {
  const heading = part.querySelector("th, h3");
  const link = Object.assign(document.createElement("a"), { className: "here", href: `#${part.id}`, textContent: "#" });
  // On the line of the name, before what is said of it.
  const name = heading.tagName === "TH" ? heading.firstChild : heading.lastChild;
  link.setAttribute("aria-label", `Link to ${heading.dataset.title ?? name.textContent.trim()}`);
  name.after(" ", link);
  link.addEventListener("click", () => setTimeout(() => {
    navigator.clipboard?.writeText(location.href).then(() => say(link, "link copied"), () => {});
  }, 200));
}

// Says for a moment, next to an element, what has been done.
function say(element, text) {
  const { left, bottom } = element.getBoundingClientRect();
  const note = Object.assign(document.createElement("p"), { className: "tip", textContent: text });
  note.setAttribute("role", "status");
  document.body.append(note);
  note.style.left = `${clamp(left, 8, root.clientWidth - note.offsetWidth - 8) + scrollX}px`;
  note.style.top = `${bottom + 6 + scrollY}px`;
  setTimeout(() => note.remove(), 1600);
}
