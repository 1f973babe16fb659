;;; eglot_test.el --- Emacs' own language client with `cellgate lsp`, for test_lsp.py  -*- lexical-binding: t -*-
;; emacs --batch -l eglot_test.el CELLGATE FILE: runs the cell of FILE, allows its call, and prints what is shown.

(package-initialize)
(require 'eglot)
(require 'flymake)

(defun wait-for (what condition)
  (let ((end (time-add nil 60)) found)
    (while (not (setq found (funcall condition)))
      (when (time-less-p end nil)
        (error "No %s; shown: %S" what (mapcar #'flymake-diagnostic-text (flymake-diagnostics))))
      (accept-process-output nil 0.05))
    found))

(defun shown (text)
  "The diagnostic that has TEXT, once Flymake has it."
  (wait-for text (lambda ()
                   (flymake-start)
                   (seq-find (lambda (each) (string-match-p (regexp-quote text) (flymake-diagnostic-text each)))
                             (flymake-diagnostics)))))

(defun choose (title)
  "What a user does who asks for the code actions at point, and takes TITLE."
  (let ((last-nonmenu-event ?x)) ; a key, not the mouse
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ offered &rest _) (or (car (all-completions title offered)) (error "No %s in %S" title offered)))))
      (eglot-code-actions (point) nil nil t))))

(let ((cellgate (pop command-line-args-left)) (file (pop command-line-args-left)))
  (setq eglot-server-programs `((python-mode . (,cellgate "lsp"))) eglot-sync-connect 60
        eglot-confirm-server-initiated-edits nil)
  (find-file file)
  (apply #'eglot (eglot--guess-contact))
  (goto-char (point-min))
  (choose "Run Cell")
  (goto-char (flymake-diagnostic-beg (shown "write_file on this machine, outside the sandbox")))
  (princ (format "waits at line %d\n" (line-number-at-pos)))
  (choose "Allow this call")
  (princ (format "%s\n" (flymake-diagnostic-text (shown "ok after"))))
  (eglot-shutdown (eglot-current-server)))
