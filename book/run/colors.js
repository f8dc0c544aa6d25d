// The colors of a program: the classes that the site gives to Python's words.
//
// The listings of the site come from Pygments, which knows words; the editor
// has a tree.  This file gives each word of the tree the class that it has
// on the page, so that no color changes when a listing is edited.

const words = (text) => new Set(text.split(" "));
const BUILTINS = words("__import__ abs aiter all any bin bool bytearray breakpoint bytes callable chr classmethod compile complex delattr dict dir divmod enumerate eval filter float format frozenset getattr globals hasattr hash hex id input int isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip");
const OPERATORS = words("and in is not or");
const ERRORS = words("ArithmeticError AssertionError AttributeError BaseException BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning EnvironmentError Exception FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning ValueError Warning ZeroDivisionError");
const METHOD = /^__(?!(annotations|bases|class|closure|code|defaults|dict|doc|file|func|globals|kwdefaults|module|mro|name|objclass|qualname|self|slots|weakref)__)[a-z]+__$/;
const OF_NODES = { At: "nd", Boolean: "kc", Comment: "c1", Escape: "se", None: "kc",
  Number: "mi", FormatConversion: "s1", FormatSelfDoc: "s1", FormatSpec: "s1" };

// Calls mark(from, to, class) for the words of a tree, in their order.
export function paint(tree, read, from, to, mark) {
  tree.iterate({ from, to, enter(node) {
    const { name, node: { parent } } = node;
    if (name === "String" || name === "FormatString") string(node.node, read, mark);
    const found = OF_NODES[name] || (/^[a-z]+$/.test(name) ? keyword(name, parent.name)
      : /^(\.|\w+Name)$/.test(name) ? named(node.node, read(node.from, node.to)) : "");
    if (found) mark(node.from, node.to, found);
  } });
}

function keyword(word, where) {
  if (OPERATORS.has(word)) return "ow";
  return where === "ImportStatement" && word !== "as" ? "kn" : "k";
}

function named({ from, name, parent, prevSibling }, word) {
  const where = parent.name, first = parent.firstChild.name;
  if (METHOD.test(word)) return "fm";
  if (where === "ImportStatement")      // in `from a import b`, b is any name
    return first === "import" || from < (parent.getChild("import")?.from ?? Infinity) ? "nn" : "";
  if (name !== "VariableName") return "";
  if (where === "FunctionDefinition") return "nf";
  if (where === "ClassDefinition") return "nc";
  if (where === "Decorator" && prevSibling?.name === "At") return "nd";
  return BUILTINS.has(word) ? "nb" : ERRORS.has(word) ? "ne" : "";
}

// A string without its prefix, and without the expressions in it.
function string(node, read, mark) {
  const kind = node.parent.name === "ExpressionStatement" ? "sd" : "s1";
  let at = node.from + read(node.from, node.from + 2).match(/^[a-z]*/i)[0].length;
  for (const hole of node.getChildren("FormatReplacement")) {
    mark(at, hole.from + 1, kind);
    at = hole.to - 1;
  }
  mark(at, node.to, kind);
}
