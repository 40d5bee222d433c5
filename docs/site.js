// The keyboard scrolls a wide table only if the element around it can have the focus. The theme adds these elements
// while the page loads.
addEventListener("load", () => {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
    }
  });
  for (const wrapper of document.querySelectorAll(".md-typeset__scrollwrap")) {
    observer.observe(wrapper);
  }
});

// The theme opens its menus on a phone by labels, which the keyboard cannot reach. Buttons replace the labels.
const MENUS = [["label.md-header__button[for=__drawer]", "Navigation"], ["label.md-sidebar-button", "On this page"]];
for (const [selector, name] of MENUS) {
  const label = document.querySelector(selector);
  if (!label) continue;
  const toggle = document.getElementById(label.htmlFor);
  const button = document.createElement("button");
  const update = () => { button.ariaExpanded = String(toggle.checked); };
  button.type = "button";
  button.className = `${label.className} menu-button`;
  button.ariaLabel = name;
  button.append(...label.querySelectorAll("svg"));
  button.addEventListener("click", () => toggle.click());
  toggle.addEventListener("change", update);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !toggle.checked) return;
    toggle.click();
    button.focus();
  });
  update();
  label.replaceWith(button);
}
