/** A style sheet as text: the panel's script brings its own. */
declare module "*.css" {
  const text: string;
  export default text;
}
