// The bundle of the film, which other views do not need: what loader.js asks for by name.

import { part } from "../part.js";
import { render } from "./view.js";

export default { film: part(render) };
