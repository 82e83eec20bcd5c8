// Uses the client that swagger-typescript-api generated in the folder of the first argument, unchanged: lists
// vacancies of the site at the second one, reads a page, and applies for the vacancy of the third one with the
// document of the fourth one and a file. Prints what the site returned.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import typescript from "typescript";

const [folder, baseUrl, id, application] = process.argv.slice(2);
const source = readFileSync(join(folder, "api.ts"), "utf8");
const compilerOptions = { target: "ES2022", module: "ES2022" };
const compiled = join(folder, "api.mjs");
writeFileSync(compiled, typescript.transpileModule(source, { compilerOptions }).outputText);
const { Api } = await import(compiled);
const { v1 } = new Api({ baseUrl });

const listed = await v1.listVacancies({ "filter[regions]": ["ghent", "antwerp"] });
const page = await v1.listVacancies({ "page[size]": 1, "page[number]": 2 });
const cv = new File(["%PDF-1.7\n"], "cv.pdf", { type: "application/pdf" });
const parts = { application: JSON.parse(application), cv };
const sent = await v1.submitApplication(id, parts, { type: "multipart/form-data" });
const refused = await v1.listVacancies({ sort: "none" }).catch((error) => error);
console.log(JSON.stringify([listed.data.meta.total, page.data.meta, sent.status, refused.error.instance]));
