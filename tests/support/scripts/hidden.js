// What an open page hides, other than folds, players' lists, and the printed
// text below a question.
const parts = "h1, h2, h3, h4, p, li, table, blockquote, .highlight, .output, "
  + "figure, img, trace-player";
return [...document.querySelectorAll(`article :is(${parts})`)]
  .filter((part) => !part.checkVisibility())
  .filter((part) => !part.matches(".question + .output, .question + .output > pre"))
  .filter((part) => !part.parentElement.closest("details, trace-player"))
  .map((part) => part.outerHTML.slice(0, 200));
