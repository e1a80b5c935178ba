// The one field for text. What it shows is the person's own while it has the focus: no answer
// and no address that arrives late takes letters away. It follows its value again without it.
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Common = {
  value: string;
  onText: (text: string) => void;
  id?: string;
  class?: string;
  required?: boolean;
  maxLength?: number;
  placeholder?: string;
  spellcheck?: boolean;
  "aria-describedby"?: string | undefined;
  "aria-invalid"?: boolean | undefined;
};

type InputProps = Common & { type?: "text" | "search" | "number" | "date" | "password"; inputMode?: "url"; min?: number | undefined; step?: string | undefined; list?: string | undefined; onFocus?: (() => void) | undefined };
type AreaProps = Common & { rows: number };

function useOwn<E extends HTMLInputElement | HTMLTextAreaElement>(value: string): { ref: RefObject<E | null>; onBlur: () => void } {
  const ref = useRef<E>(null);
  const newest = useRef(value);
  newest.current = value;
  const show = () => {
    const element = ref.current;
    if (element && element.value !== newest.current && (document.activeElement !== element || !shown.current)) element.value = newest.current;
    shown.current = true;
  };
  const shown = useRef(false);
  useLayoutEffect(show, [value]);
  return { ref, onBlur: show };
}

export function Input({ value, onText, ...rest }: InputProps) {
  const attributes: object = rest; // the types of an input are a union by its type
  return <input {...attributes} {...useOwn<HTMLInputElement>(value)} onInput={(event) => onText(event.currentTarget.value)} />;
}

export function TextArea({ value, onText, ...rest }: AreaProps) {
  return <textarea {...rest} {...useOwn<HTMLTextAreaElement>(value)} onInput={(event) => onText(event.currentTarget.value)} />;
}
