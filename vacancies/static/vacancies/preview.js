// The application form on the preview page, by the renderer that sites may copy. Nothing is sent.
const target = document.querySelector("#form");
const { sections, schema, language } = JSON.parse(document.querySelector("#form-data").textContent);
const { render } = await import(target.dataset.renderer);
render(target, sections, { schema, language });
