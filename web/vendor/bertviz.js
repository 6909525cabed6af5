// What bertviz's pages load from a CDN, as one script that needs no network: of d3 5 and of jQuery
// what its two views use (a test looks for more), and in the place of require.js a call of what waits.

import { hsl } from "d3-color";
import { scaleOrdinal } from "d3-scale";
import { schemeCategory10 } from "d3-scale-chromatic";
import { select } from "d3-selection";
import jquery from "jquery/dist/jquery.slim.js";

const libraries = { d3: { hsl, scaleOrdinal, schemeCategory10, select }, jquery };

globalThis.require = globalThis.requirejs = (names, start) => start(...names.map((name) => libraries[name]));
globalThis.require.config = () => {}; // where a CDN has them
