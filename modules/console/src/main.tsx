// The entry of the console: it restores the sign-in and shows the shell.
import { render } from "preact";
import { exchangeCode } from "./api/signin";
import { App } from "./shell/app";
import { applyPreferences } from "./shell/preferences";
import { takeCode } from "./shell/router";

applyPreferences();
const code = takeCode();
if (code) void exchangeCode(code);
const root = document.getElementById("app");
if (root) render(<App />, root);
