// Counts tokens: a JSON list of texts on stdin, a JSON list of numbers on stdout. The encoding is o200k_base.
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

let text = "";
for await (const chunk of process.stdin) text += chunk;
console.log(JSON.stringify(JSON.parse(text).map((each) => countTokens(each))));
