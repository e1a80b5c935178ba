// The descriptors of generated code are texts with a character for each byte, see
// bundle/rpc.go; the library reads base64.
import { fileDesc as decode, type GenFile } from "@bufbuild/protobuf/codegenv2";

export const fileDesc = (text: string, imports?: GenFile[]): GenFile => decode(btoa(text), imports);
