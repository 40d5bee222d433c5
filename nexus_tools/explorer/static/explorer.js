"use strict";

// The pages work without this script. It adds the theme, copy buttons, search while typing, live
// updates, and zooming and panning of drawings. It changes a page only by fetching a page of this server and replacing the elements
// that have the same ID.

(() => {
  const root = document.documentElement;
  const stored = (key, value) => {
    try {
      if (value === undefined) return localStorage.getItem(key);
      localStorage.setItem(key, value);
    } catch {
      // The browser does not allow storage.
    }
    return null;
  };
  const theme = stored("theme");
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;

  // --- Theme

  function toggleTheme() {
    const isDark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = isDark ? "light" : "dark";
    stored("theme", root.dataset.theme);
    say(`${isDark ? "Light" : "Dark"} theme`);
  }

  // --- Messages for screen readers

  function say(text) {
    const status = document.getElementById("live-status");
    if (status) status.textContent = text;
  }

  // --- Copy buttons

  async function copy(button) {
    try {
      const text = button.dataset.copy ?? button.previousElementSibling.textContent;
      await navigator.clipboard.writeText(text);
    } catch {
      say("The browser does not allow copying");
      return;
    }
    button.classList.add("copied");
    say("Copied");
    setTimeout(() => { button.classList.remove("copied"); }, 1200);
  }

  // --- Relative times

  const SPANS = [[86400000, "d"], [3600000, "h"], [60000, "min"]];
  let newestMs = 0; // the time of the newest event, because the clock of a localnet may be ahead

  function relative(timeMs) {
    const awayMs = timeMs - Math.max(Date.now(), newestMs);
    const size = Math.abs(awayMs);
    if (size < 60000) return awayMs <= 0 ? "just now" : "in less than 1 min";
    const [span, unit] = SPANS.find(([length]) => size >= length);
    const text = `${Math.floor(size / span)} ${unit}`;
    return awayMs < 0 ? `${text} ago` : `in ${text}`;
  }

  function updateTimes() {
    for (const element of document.querySelectorAll("time[datetime]:not([data-absolute])")) {
      const timeMs = Date.parse(element.dateTime);
      if (timeMs) {
        const text = relative(timeMs);
        if (element.textContent !== text) element.textContent = text;
      }
    }
  }

  // --- Replacing parts of a page

  const KEEPS_FOCUS = ".drawing, [data-zoom]"; // the elements that get the focus back

  function isInUse(element) {
    const selection = getSelection();
    const active = document.activeElement;
    return (element.contains(active) && !active.matches(KEEPS_FOCUS))
      || element.querySelector("details[open], .dragged")
      || (selection && !selection.isCollapsed && element.contains(selection.anchorNode));
  }

  function replacePart(part, fresh, force) {
    const next = fresh.getElementById(part.id);
    if (!next || next.outerHTML === part.original || (!force && isInUse(part))) return false;
    const original = next.outerHTML;
    const adopted = document.adoptNode(next);
    adopted.original = original;
    for (const details of adopted.querySelectorAll("details[id]")) {
      const before = document.getElementById(details.id);
      if (before) details.open = before.open;
    }
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    part.replaceWith(adopted);
    prepare(adopted);
    if (active?.matches(KEEPS_FOCUS)) {
      const same = active.dataset.zoom ? `[data-zoom="${active.dataset.zoom}"]` : ".drawing";
      adopted.querySelector(same)?.focus({ preventScroll: true });
    }
    return true;
  }

  async function fetchPage(url, signal) {
    const response = await fetch(url, { signal, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    page.isError = !response.ok;
    return page;
  }

  // --- Search while typing: a form replaces the element whose ID is in `data-instant`.

  function makeInstant(form) {
    let timer = 0;
    let running = null;
    const problem = document.createElement("p");
    problem.className = "notice";
    problem.setAttribute("role", "status");
    problem.hidden = true;
    form.after(problem);
    const run = async () => {
      const invalid = form.querySelector(":invalid");
      problem.hidden = !invalid;
      problem.textContent = invalid?.title ?? "";
      if (invalid) return;
      const fields = [...new FormData(form)].filter(([, value]) => value !== "");
      const url = new URL(form.action);
      url.hash = "";
      url.search = new URLSearchParams(fields);
      running?.abort();
      running = new AbortController();
      try {
        const fresh = await fetchPage(url, running.signal);
        problem.hidden = !fresh.isError;
        if (fresh.isError) {
          problem.textContent = fresh.querySelector("h1").textContent;
          return;
        }
        for (const id of form.dataset.instant.split(" ")) {
          const part = document.getElementById(id);
          if (part) replacePart(part, fresh, true);
        }
        history.replaceState(null, "", url);
        updateTimes();
        say("The results have changed");
      } catch (error) {
        if (error.name !== "AbortError") say("The server does not respond");
      }
    };
    form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(run, 250); });
  }

  // --- Live updates: elements with `data-live` follow the events of the index.

  const LEAST_MS = 1500;
  const MOST_RETRIES = 3; // after an error, for example of an object that changed while it was read
  let stream = null;
  let isRefreshing = false;
  let isDue = false;
  let pollTimer = 0;

  async function refresh() {
    isDue = true;
    if (isRefreshing || document.hidden) return;
    isRefreshing = true;
    let retries = 0;
    while (isDue && !document.hidden) {
      isDue = false;
      try {
        const url = location.href;
        const fresh = await fetchPage(url);
        if (url !== location.href) { // a form has changed the page meanwhile
          isDue = true;
          continue;
        }
        if (fresh.isError && retries < MOST_RETRIES) {
          retries += 1;
          isDue = true;
        }
        const isReady = !document.getElementById("not-ready");
        if (!isReady && !fresh.getElementById("not-ready")) location.reload();
        let changes = 0;
        for (const part of document.querySelectorAll("[data-live]")) {
          if (replacePart(part, fresh, false) && part.id !== "checkpoint") changes += 1;
        }
        newestMs = Number(fresh.body.dataset.newest);
        updateTimes();
        if (changes) say("The page has new values");
      } catch {
        // The next event or poll tries again.
      }
      await new Promise((resolve) => { setTimeout(resolve, LEAST_MS); });
    }
    isRefreshing = false;
  }

  function startPolling() {
    clearInterval(pollTimer);
    const seconds = [...document.querySelectorAll("[data-poll]")].map((part) => Number(part.dataset.poll));
    if (seconds.length) pollTimer = setInterval(refresh, 1000 * Math.min(...seconds));
  }

  // A browser allows six connections to a server, so a hidden tab must not keep one.
  function follow() {
    if (document.hidden || stream || document.getElementById("not-ready")) return;
    stream = new EventSource("/api/events");
    stream.onopen = () => root.classList.add("live");
    stream.onerror = () => {
      root.classList.remove("live");
      if (stream && stream.readyState === EventSource.CLOSED) {
        stream = null;
        setTimeout(follow, 5000);
      }
    };
    for (const kind of ["tool_registered", "invocation_requested", "invocation_closed",
      "leader_registered", "leader_activity_changed", "rolled_back"]) {
      stream.addEventListener(kind, refresh);
    }
  }

  function unfollow() {
    stream?.close();
    stream = null;
    root.classList.remove("live");
  }

  // --- Drawings: buttons, keys and Ctrl with the wheel zoom. The mouse pans, like the scroll bars
  // and the arrow keys, which need no script. Nothing moves by itself.

  const [LEAST_ZOOM, MOST_ZOOM, ZOOM_STEP] = [0.1, 4, 1.25];
  const ZOOM_KEYS = { "+": "in", "=": "in", "-": "out", "0": "fit" };
  const DRAG_PX = 4; // a shorter movement is a click
  const views = new Map(); // the zoom and position of each drawing, which outlive its replacement

  function makeZoomable(drawing) {
    const svg = drawing.querySelector("svg");
    const { width, height } = svg.viewBox.baseVal;
    const key = drawing.getAttribute("aria-label");
    const view = views.get(key) ?? { zoom: 1, left: 0, top: 0 };
    views.set(key, view);

    function apply() {
      svg.setAttribute("width", width * view.zoom);
      svg.setAttribute("height", height * view.zoom);
    }
    // Keep the point of the drawing that is at (x, y) in the frame, by default the middle.
    function zoomTo(zoom, x = drawing.clientWidth / 2, y = drawing.clientHeight / 2) {
      const before = view.zoom;
      view.zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, zoom));
      const ratio = view.zoom / before;
      const left = (drawing.scrollLeft + x) * ratio - x;
      const top = (drawing.scrollTop + y) * ratio - y;
      apply();
      drawing.scrollTo({ left, top, behavior: "instant" });
      say(`Zoom ${Math.round(100 * view.zoom)} %`);
    }
    function act(action) {
      if (action === "in") zoomTo(view.zoom * ZOOM_STEP);
      if (action === "out") zoomTo(view.zoom / ZOOM_STEP);
      if (action !== "fit") return;
      const style = getComputedStyle(drawing);
      const inner = drawing.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      const most = parseFloat(style.maxHeight) || height;
      const tall = most - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom);
      zoomTo(Math.min(1, inner / width, tall / height));
    }

    const buttons = drawing.previousElementSibling;
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => act(event.target.closest("button")?.dataset.zoom));
    drawing.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !ZOOM_KEYS[event.key]) return;
      event.preventDefault();
      act(ZOOM_KEYS[event.key]);
    });
    drawing.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const frame = drawing.getBoundingClientRect();
      const factor = ZOOM_STEP ** (-event.deltaY / 100);
      zoomTo(view.zoom * factor, event.clientX - frame.left, event.clientY - frame.top);
    }, { passive: false });
    drawing.addEventListener("scroll", () => {
      [view.left, view.top] = [drawing.scrollLeft, drawing.scrollTop];
    });
    makeDraggable(drawing);
    if (view.zoom !== 1) apply();
    drawing.scrollTo({ left: view.left, top: view.top, behavior: "instant" });
  }

  // A finger scrolls without this function.
  function makeDraggable(drawing) {
    let start = null;
    let isDrag = false;
    drawing.addEventListener("pointerdown", (event) => {
      if (event.pointerType !== "mouse" || event.button) return;
      isDrag = false;
      start = { x: event.clientX + drawing.scrollLeft, y: event.clientY + drawing.scrollTop };
      start.from = [event.clientX, event.clientY];
    });
    drawing.addEventListener("pointermove", (event) => {
      if (!start) return;
      const [x, y] = start.from;
      if (!isDrag && Math.hypot(event.clientX - x, event.clientY - y) < DRAG_PX) return;
      if (!isDrag) drawing.setPointerCapture(event.pointerId);
      isDrag = true;
      drawing.classList.add("dragged");
      const [left, top] = [start.x - event.clientX, start.y - event.clientY];
      drawing.scrollTo({ left, top, behavior: "instant" });
    });
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) {
      drawing.addEventListener(end, () => {
        start = null;
        drawing.classList.remove("dragged");
      });
    }
    // The end of a drag is not a click on the vertex below the mouse.
    drawing.addEventListener("click", (event) => {
      if (isDrag) event.preventDefault();
      isDrag = false;
    }, true);
    drawing.addEventListener("dragstart", (event) => event.preventDefault());
  }

  // --- Start

  function prepare(part) {
    for (const button of part.querySelectorAll("button.copy")) button.hidden = false;
    for (const drawing of part.querySelectorAll(".drawing")) makeZoomable(drawing);
  }

  document.addEventListener("DOMContentLoaded", () => {
    newestMs = Number(document.body.dataset.newest);
    for (const part of document.querySelectorAll("[data-live]")) part.original = part.outerHTML;
    prepare(document);
    const button = document.querySelector("button.theme");
    button.hidden = false;
    button.addEventListener("click", toggleTheme);
    document.addEventListener("click", (event) => {
      const target = event.target.closest("button.copy");
      if (target) copy(target);
    });
    for (const form of document.querySelectorAll("form[data-instant]")) makeInstant(form);
    setInterval(updateTimes, 15000);
    startPolling();
    follow();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      unfollow();
    } else {
      follow();
      refresh();
    }
  });
  addEventListener("pagehide", unfollow);
  addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
})();
