# Evaluated in IRkernel, in one expression with a call: the functions of cellgate's sidecar for variables. Each writes
# its answer to a new file, as JSON, and returns nothing. As transfer.py.
local({
  max_depth <- 200
  max_variables <- 500
  max_text <- 200
  max_exact <- 2^53

  write_text <- function(path, text) {
    file <- base::file(path, open = "wb")
    on.exit(close(file))
    writeBin(charToRaw(enc2utf8(text)), file)
  }
  # Each text as a string of JSON; NA as null.
  string <- function(text) {
    made <- gsub("\"", "\\\"", gsub("\\", "\\\\", enc2utf8(text), fixed = TRUE), fixed = TRUE)
    for (code in 1:31) {
      character <- intToUtf8(code)
      if (any(grepl(character, made, fixed = TRUE))) {
        made <- gsub(character, sprintf("\\u%04x", code), made, fixed = TRUE)
      }
    }
    ifelse(is.na(text), "null", paste0("\"", made, "\""))
  }
  refuse <- function(...) {
    stop(structure(class = c("problem", "error", "condition"), list(message = paste0(...), call = NULL)))
  }
  member <- function(path, name) {
    if (grepl("^[A-Za-z.][A-Za-z0-9._]*$", name)) paste0(path, "$", name) else paste0(path, "[[", string(name), "]]")
  }
  element <- function(path, at, many) if (many) paste0(path, "[[", at, "]]") else path

  check_atomic <- function(value, path) {
    many <- length(value) > 1
    if (is.double(value) && any(bad <- is.nan(value) | is.infinite(value))) {
      at <- which(bad)[1]
      refuse(element(path, at, many), " is ", value[at], ", which JSON does not have")
    }
    if (is.character(value) && any(bad <- !is.na(value) & !validUTF8(enc2utf8(value)))) {
      refuse(element(path, which(bad)[1], many), " is text that is not UTF-8")
    }
  }
  check_names <- function(value, path) {
    if (any(names(value) == "")) refuse(path, " has names for some of its elements only")
    if (anyDuplicated(names(value))) refuse(path, " has a name twice")
  }
  # Stops at what JSON does not have.
  check <- function(value, path, depth = 0) {
    if (depth == max_depth) refuse(path, " is nested deeper than ", max_depth)
    if (is.data.frame(value) || (is.list(value) && !is.object(value))) {
      if (is.data.frame(value) || !is.null(names(value))) check_names(value, path)
      for (at in seq_along(value)) {
        inner <- if (is.null(names(value))) paste0(path, "[[", at, "]]") else member(path, names(value)[at])
        check(value[[at]], inner, depth + 1)
      }
    } else if (is.null(value)) {
      NULL
    } else if (is.object(value) || !is.atomic(value) || is.raw(value) || is.complex(value)) {
      kind <- if (is.function(value)) "function" else class(value)[1]
      hint <- if (is.object(value) && is.atomic(value)) ", e.g. as.character(...)" else ""
      refuse(path, if (grepl("^[aeiouAEIOU]", kind)) " is an " else " is a ", kind, "; convert it first", hint)
    } else if (!is.null(dim(value))) {
      refuse(path, " is a matrix; convert it first, e.g. as.data.frame(...)")
    } else {
      check_atomic(value, path)
    }
  }
  # Each element of a vector as JSON.
  scalars <- function(value) {
    if (is.character(value)) return(string(value))
    made <- if (is.logical(value)) tolower(as.character(value)) else sprintf("%.15g", as.double(value))
    if (is.double(value)) {
      rough <- !is.na(value) & as.double(made) != value
      made[rough] <- sprintf("%.17g", value[rough])
    }
    ifelse(is.na(value), "null", made)
  }
  array <- function(made) paste0("[", paste(made, collapse = ","), "]")
  # `made`: the values as JSON.
  object <- function(names, made) paste0("{", paste0(string(names), ":", made, collapse = ","), "}")
  rows <- function(table) {
    if (nrow(table) == 0) return("[]")
    columns <- lapply(table, function(column) if (is.list(column)) vapply(column, to_json, "") else scalars(column))
    members <- Map(function(name, column) paste0(string(name), ":", column), names(table), columns)
    array(paste0("{", do.call(paste, c(unname(members), sep = ",")), "}"))
  }
  # A vector of one element is a scalar.
  to_json <- function(value) {
    if (is.data.frame(value)) return(rows(value))
    if (is.null(value)) return("null")
    made <- if (is.list(value)) vapply(value, to_json, "") else scalars(value)
    if (!is.null(names(value))) return(if (length(made) == 0) "{}" else object(names(value), made))
    if (is.list(value) || length(made) != 1) array(made) else made
  }

  export_variable <- function(path, name) {
    if (!exists(name, envir = globalenv(), inherits = FALSE)) return(write_text(path, object("missing", "true")))
    value <- get(name, envir = globalenv())
    text <- tryCatch({
      check(value, name)
      object(c("type", "value"), c(string(class(value)[1]), to_json(value)))
    }, error = function(error) object("problem", string(conditionMessage(error))))
    write_text(path, text)
  }

  kind_of <- function(value) if (is.numeric(value)) "number" else class(value)
  # A vector of the values, or NULL where they are not of one kind.
  vector_of <- function(values) {
    known <- values[!vapply(values, is.null, NA)]
    if (length(known) == 0 || any(vapply(known, is.list, NA))) return(NULL)
    if (length(unique(vapply(known, kind_of, ""))) > 1) return(NULL)
    values[vapply(values, is.null, NA)] <- NA
    unlist(values, use.names = FALSE)
  }
  # A data frame of records of scalars, or NULL.
  table_of <- function(values) {
    if (!all(vapply(values, function(each) is.list(each) && length(names(each)) > 0, NA))) return(NULL)
    columns <- unique(unlist(lapply(values, names)))
    made <- lapply(columns, function(column) vector_of(lapply(values, function(each) each[[column]])))
    if (any(vapply(made, is.null, NA)) || any(columns == "")) return(NULL)
    as.data.frame(structure(made, names = columns), optional = TRUE, stringsAsFactors = FALSE)
  }
  simplify <- function(value) {
    if (!is.list(value) || length(value) == 0) return(value)
    if (!is.null(names(value))) return(lapply(value, simplify))
    found <- vector_of(value)
    if (is.null(found)) found <- table_of(value)
    if (is.null(found)) lapply(value, simplify) else found
  }
  import_variable <- function(path, name, source) {
    answer <- tryCatch({
      text <- paste(readLines(source, warn = FALSE, encoding = "UTF-8"), collapse = "\n")
      assign(name, simplify(jsonlite::parse_json(text, simplifyVector = FALSE)), envir = globalenv())
      "{}"
    }, error = function(error) object("problem", string(paste("R cannot read it:", conditionMessage(error)))))
    write_text(path, answer)
  }

  # Runs no code of the values: no method of their classes, no active binding.
  class_of <- function(value) {
    if (is.function(value)) "function" else class(value)[1]
  }
  size_of <- function(value) {
    if (is.environment(value) || is.function(value) || is.language(value) || isS4(value)) return(NULL)
    length(unclass(value))
  }
  described <- function(value) {
    if (is.function(value)) return(sub(" *$", "", sub("^function *", "function", deparse(args(value), nlines = 1))))
    if (is.environment(value) || isS4(value)) return(paste0("<", class_of(value), ">"))
    if (is.language(value)) return(paste(deparse(value, nlines = 1)))
    if (inherits(value, "data.frame")) {
      return(paste(.row_names_info(value, 2L), "rows,", length(unclass(value)), "columns"))
    }
    plain <- unclass(value)
    if (is.list(plain)) {
      plain <- plain[seq_len(min(length(plain), 20))]
      shown <- vapply(plain, class_of, "")
      named <- names(plain) != ""
      shown[named] <- names(plain)[named]
      return(paste0("list(", paste(shown, collapse = ", "), ")"))
    }
    if (!is.atomic(plain)) return(paste0("<", class_of(value), ">"))
    plain <- plain[seq_len(min(length(plain), 50))]
    if (is.character(plain)) {
      plain[!validUTF8(plain)] <- "<not UTF-8>"
      plain <- substr(plain, 1, max_text)
    }
    paste(deparse(as.vector(plain), width.cutoff = 500L), collapse = "")
  }
  variable <- function(name) {
    if (bindingIsActive(as.name(name), globalenv())) {
      return(object(c("name", "type", "value"), c(string(name), string("active binding"), string(""))))
    }
    value <- get(name, envir = globalenv())
    size <- size_of(value)
    shown <- c(name, class_of(value), substr(described(value), 1, max_text), size) # without a size if it has none
    object(c("name", "type", "value", "size")[seq_along(shown)], string(shown))
  }
  variables <- function(path) {
    names <- ls(globalenv())
    shown <- names[seq_len(min(length(names), max_variables))]
    made <- vapply(shown, variable, "")
    write_text(path, object(c("variables", "truncated"),
                            c(array(made), if (length(names) > length(shown)) "true" else "false")))
  }
  list(export_variable = export_variable, import_variable = import_variable, variables = variables)
})
