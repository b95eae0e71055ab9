/**
 * Makes an element.
 *
 * @param {string} tag such as `button.primary`
 * @param {Record<string, unknown>} [props] `on…` are listeners, `class`, `data-…`, `aria-…` and the like attributes,
 *   the rest properties; undefined and false are left out
 * @param {...(Node | string | undefined | false)} children
 */
export function h(tag, props = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && !key.includes("-") && key !== "list" && key !== "form") element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** Writes a text where it differs, so that nothing is redrawn or read out again without need. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Sets or removes an attribute where it differs. */
export function attribute(element, name, value) {
  if (value === undefined || value === false) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
}

/** Whether the person asked for less motion. */
export const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
