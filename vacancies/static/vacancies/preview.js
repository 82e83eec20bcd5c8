// Shows the application form on the preview page, with the reference renderer. Nothing is submitted.
const target = document.querySelector("#form");
const { sections, schema, language } = JSON.parse(document.querySelector("#form-data").textContent);
const { render } = await import(target.dataset.renderer);
render(target, sections, { schema, language });
