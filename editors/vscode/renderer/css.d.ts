// This declaration types style sheets, which are bundled as text.
declare module "*.css" {
    const text: string;
    export default text;
}
