// No module is loaded from a file, so this is said by a plain script, at once.
if (location.protocol === "file:") document.documentElement.classList.add("file");
