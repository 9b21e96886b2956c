import words from "./broken.json";

export default () => words;
