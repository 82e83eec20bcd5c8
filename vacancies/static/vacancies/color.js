// Beside a text input for a color: the browser's color picker, and a button as visitors will see it. Its text is
// black or white, whichever has the higher contrast (jobsite/appearance.py). Without this script, the color is typed.
window.addEventListener("load", () => {
  for (const input of document.querySelectorAll("input[data-color]")) {
    if (input.disabled || input.readOnly) continue;
    const picker = document.createElement("input");
    picker.type = "color";
    picker.ariaLabel = input.dataset.color;
    const example = document.createElement("span");
    example.className = "color-example";
    example.textContent = input.dataset.example;
    const box = document.createElement("div");
    box.className = "color-input";
    input.before(box);
    box.append(input, picker, example);

    const show = () => {
      const color = input.value.trim().toLowerCase();
      example.hidden = !/^#[0-9a-f]{6}$/.test(color);
      if (example.hidden) return;
      picker.value = color;
      example.style.background = color;
      example.style.color = luminance(color) > 0.179 ? "#000" : "#fff"; // both have the same contrast at 0.179
    };
    picker.addEventListener("input", () => {
      input.value = picker.value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    input.addEventListener("input", show);
    show();
  }

  function luminance(color) {
    const [red, green, blue] = [1, 3, 5].map((at) => {
      const part = parseInt(color.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
});
