// Collections, what puts videos into them, and sharing, a script of their own.
import "./shell/app"; // what that has is in the first script, so this one has none of it
import texts from "messages:collections";
import { learn } from "./i18n/t";
learn(texts);
export { Collections } from "./pages/collections";
export { SaveTo } from "./pages/collections-save";
export { ShareForm } from "./pages/collections-share";
