/**
 * Renders the form of a JSON Schema with @rjsf/core and JSON Forms, as docs/api.md describes.
 *
 * Reads {"schema", "values"} and prints HTML by renderer. The argument is the module of docs/api.md.
 */

import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

import { JsonForms } from "@jsonforms/react";
import { vanillaCells, vanillaRenderers } from "@jsonforms/vanilla-renderers";
import Form from "@rjsf/core";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";

const { rjsf, jsonForms } = await import(pathToFileURL(process.argv[2]));
const { schema, values } = JSON.parse(await text(process.stdin));
const looks = { renderers: vanillaRenderers, cells: vanillaCells };
console.log(JSON.stringify({
  rjsf: renderToStaticMarkup(createElement(Form, { ...rjsf(schema), formData: values })),
  jsonForms: renderToStaticMarkup(createElement(JsonForms, { ...jsonForms(schema), ...looks, data: values })),
}));
