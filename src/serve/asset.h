/* The files of web/, embedded in the program by the assembler. The handlers of pages send them; no
 * file of web/ is read at run time. Each function returns one file. Its data is never freed. */
#ifndef TRAINYARD_SERVE_ASSET_H
#define TRAINYARD_SERVE_ASSET_H

#include <stddef.h>

struct asset {
    const char *data;
    size_t size; /* without the zero byte that follows the data */
};

struct asset asset_classifier_html(void);
struct asset asset_help_html(void);
struct asset asset_icon_svg(void);
struct asset asset_page_js(void);
struct asset asset_style_css(void);
struct asset asset_upload_html(void);

#endif
